// Fuzzes NumPy's files: the bytes as an .npy file, as an .npz archive, and as the only entry of an
// archive with a correct checksum, which mutations of an archive seldom have. What is read is
// written and read again.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/files/npy_file.h"
#include "ndarray/files/npz_file.h"
#include "ndarray/files/zip_writer.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

constexpr int64_t kMaxBytes = 1 << 22;

void CheckSame(const NDArray& array, const NDArray& again) {
  CHECK_EQ(array.ToString(), again.ToString());
  const absl::string_view bytes(static_cast<const char*>(array.raw_data()), array.size_bytes());
  CHECK(bytes == absl::string_view(static_cast<const char*>(again.raw_data()), again.size_bytes()))
      << array.ToString();
}

void ReadArray(absl::string_view bytes) {
  const absl::StatusOr<NDArray> array = ParseNpy(bytes);
  if (!array.ok()) return;
  CHECK_LE(array->size_bytes(), static_cast<int64_t>(bytes.size()));
  for (const DType dtype : {DType::kInt64, DType::kFloat16, DType::kBool}) {
    array->AsType(dtype).status().IgnoreError();
  }
  const absl::StatusOr<std::string> written = SerializeNpy(*array);
  CHECK(written.ok()) << written.status();
  const absl::StatusOr<NDArray> again = ParseNpy(*written);
  CHECK(again.ok()) << "written, but not read again: " << again.status();
  CheckSame(*array, *again);
}

void ReadArchive(absl::string_view bytes) {
  const absl::StatusOr<NpzFile> file = NpzFile::Parse(bytes, {.max_bytes = kMaxBytes});
  if (!file.ok()) return;
  NamedArrays arrays;
  for (const std::string& name : file->names()) {
    const bool described = file->Describe(name).ok();
    const absl::StatusOr<NDArray> array = file->Load(name);
    CHECK(described || !array.ok()) << name;
    if (array.ok()) arrays.emplace_back(name, *array);
  }
  for (const bool compress : {false, true}) {
    const absl::StatusOr<std::string> written = SerializeNpz(arrays, {.compress = compress});
    // Names that are empty or have a zero byte can be read, and not written.
    if (!written.ok()) continue;
    const absl::StatusOr<NpzFile> again = NpzFile::Parse(*written);
    CHECK(again.ok()) << again.status();
    CHECK_EQ(again->names().size(), arrays.size());
    for (const auto& [name, array] : arrays) {
      const absl::StatusOr<NDArray> loaded = again->Load(name);
      CHECK(loaded.ok()) << loaded.status();
      CheckSame(array, *loaded);
    }
  }
}

void ReadEntry(absl::string_view bytes, bool compress) {
  std::string archive;
  ZipWriter writer(
      [&archive](absl::string_view part) {
        archive.append(part.data(), part.size());
        return absl::OkStatus();
      },
      {.compress = compress});
  CHECK(writer.Add("a.npy", {bytes}).ok());
  CHECK(writer.Finish().ok());
  const absl::StatusOr<NpzFile> file = NpzFile::Parse(archive);
  CHECK(file.ok()) << file.status();
  CHECK_EQ(file->Load("a").ok(), ParseNpy(bytes).ok()) << file->Load("a").status();
}

void ReadByName(absl::string_view bytes) {
  const std::string path = ScratchFolder() + "/fuzz.npz";
  WriteUnsynced(path, std::string(bytes));
  CHECK_EQ(NpzFile::Open(path).ok(), NpzFile::Parse(bytes).ok());
  CHECK_EQ(LoadNpy(path).ok(), ParseNpy(bytes).ok());
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  cooper::ReadArray(bytes);
  cooper::ReadArchive(bytes);
  cooper::ReadEntry(bytes, size % 2 == 0);
  if (size % 16 == 0) cooper::ReadByName(bytes);
  return 0;
}
