// Files of a BucketingModule: one that was saved, with one of its files replaced by the input.
// Loading it is refused, or it can be bound and run.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/module_fixtures.h"
#include "ndarray/atomic_file.h"
#include "ndarray/params_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

std::vector<DataDesc> DataOf(int64_t length) {
  return {{.name = "data", .shape = {2, length, 3}, .layout = "NTC"}};
}
std::vector<DataDesc> Labels() { return {{.name = "softmax_label", .shape = {2}, .layout = "N"}}; }

constexpr const char* kFiles[] = {".buckets", ".bucket_keys", "-0001.params", "-3-symbol.json"};

// The files of a module with the buckets 2 and 3.
const std::string& Saved() {
  static const auto* const prefix = [] {
    auto* const path = new std::string(ScratchFolder() + "/saved");
    auto module =
        BucketingModule::Create({.sym_gen = [](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
                                   return BucketSymbol{.symbol = MeanOverTime()};
                                 },
                                 .default_bucket_key = 2});
    CHECK(module.ok());
    CHECK((*module)->Bind({.data_shapes = DataOf(2), .label_shapes = Labels()}).ok());
    CHECK((*module)->InitParams({.initializer = init::Uniform(0.5)}).ok());
    CHECK((*module)->SwitchBucket(3, DataOf(3), Labels()).ok());
    CHECK((*module)->SaveCheckpoint(*path, 1).ok());
    return path;
  }();
  return *prefix;
}

// A list of arrays, small and of any shape.
std::string SomeArrays(FuzzInput& input) {
  NamedArrays arrays;
  for (uint64_t count = input.Below(3); count > 0; --count) {
    Shape shape;
    for (uint64_t rank = input.Below(4); rank > 0; --rank) {
      shape.push_back(input.OneIn(6) ? int64_t{1} << input.Below(50) : input.Below(4));
    }
    constexpr DType kTypes[] = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kBool};
    auto array = NDArray::Full(
        Shape::Create(shape.dims()).ok() && shape.num_elements() < 1000 ? shape : Shape{2},
        input.Between(-1, 4), input.Pick(kTypes));
    constexpr const char* kNames[] = {"", "arg:fc_weight", "arg:fc_bias", "aux:x", "y"};
    arrays.emplace_back(input.Pick(kNames), *array);
  }
  return *SerializeNamedArrays(arrays);
}

void Load(FuzzInput& input) {
  const std::string prefix = ScratchFolder() + "/changed";
  const size_t changed = input.Below(std::size(kFiles));
  for (size_t i = 0; i < std::size(kFiles); ++i) {
    std::string bytes = *ReadFile(Saved() + kFiles[i]);
    if (i == changed) {
      const bool is_arrays = i == 0 || i == 2;
      bytes = is_arrays && input.Below(2) == 0 ? SomeArrays(input) : input.Rest();
    }
    WriteUnsynced(prefix + kFiles[i], bytes);
  }
  // Only the old list, where it is the changed one.
  if (changed == 0) std::remove((prefix + kFiles[1]).c_str());
  WriteUnsynced(prefix + "-2-symbol.json", *ReadFile(Saved() + "-2-symbol.json"));
  const auto module = BucketingModule::Load(prefix, 1, {});
  if (!module.ok()) return;
  if (!(*module)->Bind({.data_shapes = DataOf(2), .label_shapes = Labels()}).ok()) return;
  (*module)->InitParams({.allow_missing = true}).IgnoreError();
  (*module)->SwitchBucket(3, DataOf(3), Labels()).IgnoreError();
  (*module)->SaveCheckpoint(prefix + "_again", 1).IgnoreError();
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::Load(input);
  return 0;
}
