// Fuzzes .params files: a parsed list can be inspected, converted, written and read again. One
// input in 16 is read from a file, by name.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "ndarray/files/params_file.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

// A sparse array may describe a shape much larger than its stored elements.
constexpr int64_t kMaxElements = 1 << 16;

bool IsSmall(const Shape& shape) {
  double elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<double>(extent);
  return elements <= kMaxElements && shape.rank() > 0 && shape[0] <= kMaxElements;
}

void Read(absl::string_view bytes) {
  const absl::StatusOr<ParamsList> list = ParseParams(bytes);
  if (!list.ok()) return;
  NamedArrays arrays;
  bool has_null = false;
  for (const ParamsEntry& entry : list->entries) {
    NDArray array = entry.array;
    if (entry.sparse != nullptr) {
      if (!IsSmall(entry.sparse->shape)) continue;
      const absl::StatusOr<NDArray> dense = ToDense(entry);
      if (!dense.ok()) continue;
      array = *dense;
    }
    has_null = has_null || array.is_null();
    for (const DType dtype :
         {DType::kInt64, DType::kInt8, DType::kFloat32, DType::kFloat16, DType::kBool}) {
      array.AsType(dtype).status().IgnoreError();
    }
    array.ToString();
    arrays.emplace_back(entry.name, array);
  }
  const absl::StatusOr<std::string> written = SerializeNamedArrays(arrays);
  CHECK(written.ok() || has_null) << written.status();
  if (!written.ok()) return;
  const absl::StatusOr<ParamsList> again = ParseParams(*written);
  CHECK(again.ok()) << "written, but not read again: " << again.status();
  CHECK_EQ(again->entries.size(), arrays.size());
}

void ReadByName(absl::string_view bytes) {
  const std::string path = ScratchFolder() + "/fuzz.params";
  const std::string text(bytes);
  WriteUnsynced(path, text);
  const bool loaded = LoadNamedArrays(path).ok();
  CHECK(!loaded || ParseParams(bytes).ok());
  const absl::StatusOr<NamedArrays> mapped = MapNamedArrays(path);
  CHECK_EQ(mapped.ok(), loaded) << mapped.status();
  if (!loaded) return;
  for (const auto& [name, array] : *mapped) CHECK(array.is_null() || array.Copy().ok()) << name;
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  cooper::Read(bytes);
  if (size % 16 == 0) cooper::ReadByName(bytes);
  return 0;
}
