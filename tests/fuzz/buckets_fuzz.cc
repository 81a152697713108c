// Fuzzes the files of a BucketingModule: one file of a saved module is replaced by the input.
// Loading either fails, or the module can be bound and run.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/files/params_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

std::vector<DataDesc> DataOf(int64_t length) {
  return {{.name = "data", .shape = {2, length, 3}, .layout = "NTC"}};
}
std::vector<DataDesc> Labels() { return {{.name = "softmax_label", .shape = {2}, .layout = "N"}}; }

constexpr const char* kFiles[] = {".buckets", ".bucket_keys", "-0001.params", "-3-symbol.json"};

// Returns the prefix of the saved files of a module with the buckets 2 and 3.
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

// Returns a list of small arrays of any shape.
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

// Returns options that a caller may load with: a default bucket, and a sym_gen, which may fail for
// a key.
BucketingModuleOptions SomeOptions(FuzzInput& input) {
  BucketingModuleOptions options;
  if (input.OneIn(4)) options.default_bucket_key = input.Between(2, 4);
  if (!input.OneIn(4)) return options;
  const int64_t fails_for = input.Between(2, 4);
  options.sym_gen = [fails_for](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    if (key == BucketKey(fails_for)) return absl::InvalidArgumentError("no such bucket");
    return BucketSymbol{.symbol = MeanOverTime()};
  };
  return options;
}

void Load(FuzzInput& input) {
  const std::string prefix = ScratchFolder() + "/changed";
  const BucketingModuleOptions options = SomeOptions(input);
  const size_t changed = input.Below(std::size(kFiles));
  for (size_t i = 0; i < std::size(kFiles); ++i) {
    std::string bytes = *ReadFile(Saved() + kFiles[i]);
    if (i == changed) {
      const bool is_arrays = i == 0 || i == 2;
      bytes = is_arrays && input.Below(2) == 0 ? SomeArrays(input) : input.Rest();
    }
    WriteUnsynced(prefix + kFiles[i], bytes);
  }
  // Removes the new list of buckets if the input replaces the old one.
  if (changed == 0) std::remove((prefix + kFiles[1]).c_str());
  WriteUnsynced(prefix + "-2-symbol.json", *ReadFile(Saved() + "-2-symbol.json"));
  const auto module = BucketingModule::Load(prefix, 1, options);
  if (!module.ok()) return;
  if (!(*module)->Bind({.data_shapes = DataOf(2), .label_shapes = Labels()}).ok()) return;
  (*module)->InitParams({.allow_missing = true}).IgnoreError();
  (*module)->SwitchBucket(3, DataOf(3), Labels()).IgnoreError();
  (*module)->SaveCheckpoint(prefix + "_again", 1).IgnoreError();
}

// Returns an input that replaces the file with this number.
std::string Changed(uint64_t file, const std::string& bytes, uint64_t default_key = 0,
                    bool generates = false, uint64_t fails_for = 0) {
  SeedBytes seed;
  seed.Below(default_key > 0 ? 3 : 0, 4);
  if (default_key > 0) seed.Below(default_key - 2, 3);
  seed.Below(generates ? 3 : 0, 4);
  if (generates) seed.Below(fails_for - 2, 3);
  seed.Below(file, std::size(kFiles));
  if (file == 0 || file == 2) seed.Below(1, 2);  // not SomeArrays
  return seed.Rest(bytes).bytes();
}

std::string ListOf(const NDArray& keys, const std::string& name) {
  return *SerializeNamedArrays({{name, keys}});
}

std::vector<FuzzSeed> Seeds() {
  const auto ints = [](const Shape& shape, const std::vector<int64_t>& values) {
    return ListOf(*NDArray::FromVector<int64_t>(shape, values), "keys");
  };
  const NDArray key = *NDArray::FromVector<int32_t>({1}, {2});
  std::vector<FuzzSeed> seeds = {
      {"old_keys", Changed(0, ints({2}, {2, 3}))},
      {"old_tuples", Changed(0, ints({1, 2}, {2, 3}))},
      {"old_empty_tuples", Changed(0, ints({3, 0}, {}))},
      {"old_no_tuples", Changed(0, ints({0, 2}, {}))},
      {"old_cube", Changed(0, ints({1, 1, 1}, {2}))},
      {"old_two_lists", Changed(0, *SerializeNamedArrays({{"a", key}, {"b", key}}))},
      {"old_none", Changed(0, "")},
      {"default_key", Changed(1, "2\n3\n", 3)},
      {"default_key_missing", Changed(1, "2\n3\n", 4)},
      {"generated", Changed(1, "2\n3\n", 0, true, 4)},
      {"generated_default", Changed(1, "3\n", 2, true, 4)},
      {"generated_fails", Changed(1, "2\n3\n", 0, true, 3)},
      {"no_params", Changed(2, "")},
      {"no_symbol", Changed(3, "{")},
  };
  // Keys of every kind; some have no file, share one, or cannot name one.
  for (const char* keys : {"2\n3\n", "2\n2\n", "'3'\n3\n", "'2'\n3\n", "'a/b'\n", "(2, 3)\n",
                           "99999999999\n", "x\n", "\n", "'2'\n'3'\n"}) {
    seeds.push_back({absl::StrCat("keys_", seeds.size()), Changed(1, keys)});
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::Load(input);
  return 0;
}
