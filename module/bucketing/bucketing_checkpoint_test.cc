// Tests the lists of bucket keys with which a BucketingModule is loaded: its own list, and the one
// that MXNet also writes.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

std::vector<DataDesc> Data() { return {{.name = "data", .shape = {4, 5, 3}, .layout = "NTC"}}; }
std::vector<DataDesc> Labels() { return {{.name = "softmax_label", .shape = {4}, .layout = "N"}}; }

absl::StatusOr<BucketSymbol> Mean(const BucketKey&) {
  return BucketSymbol{.symbol = MeanOverTime()};
}

// Writes the files of a module with these buckets.
void Save(const std::string& prefix, const std::vector<BucketKey>& keys) {
  auto model = *BucketingModule::Create({.sym_gen = Mean, .default_bucket_key = keys[0]});
  COOPER_ASSERT_OK(model->Bind({.data_shapes = Data(), .label_shapes = Labels()}));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  for (const BucketKey& key : keys) COOPER_ASSERT_OK(model->SwitchBucket(key, Data(), Labels()));
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 1));
}

// Writes MXNet's array of keys, in a list without names.
void SaveIntKeys(const std::string& prefix, const Shape& shape,
                 const std::vector<int32_t>& values) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray keys, NDArray::FromVector<int32_t>(shape, values));
  COOPER_ASSERT_OK(SaveArrays(prefix + ".buckets", {keys}));
}

struct KeysCase {
  const char* name;
  Shape shape;  // of .buckets
  std::vector<int32_t> values;
  const char* bucket_keys;
  const char* loaded;  // the last one is the default key
};

// MXNet writes .buckets and leaves cooper's files beside it unchanged.
TEST(BucketingCheckpointTest, KeysThatMXNetHasSavedSinceAreLoaded) {
  const std::string prefix = testing::TempDir() + "/listed";
  Save(prefix, {2, 3, 4, 8, "a", {2, 3}, {4, 4}});
  const KeysCase kCases[] = {
      // name, shape and values of .buckets, .bucket_keys, what is loaded
      {"SavedByCooper", {2}, {2, 4}, "2\n4\n'a'\n", "2\n4\n'a'\n"},
      {"StringsAlone", {0}, {}, "'a'\n", "'a'\n"},
      {"TrainedOnWithMoreKeys", {3}, {8, 4, 2}, "2\n4\n", "2\n4\n8\n"},
      {"TrainedOnBesideAString", {3}, {8, 4, 2}, "2\n4\n'a'\n", "2\n4\n8\n'a'\n"},
      {"AnotherRun", {2}, {3, 2}, "2\n4\n'a'\n", "2\n3\n"},
      {"AnotherRunOfTuples", {1, 2}, {2, 3}, "(4, 4)\n", "(2, 3)\n"},
      {"TuplesOnTopOfIntegers", {1, 2}, {2, 3}, "2\n", "(2, 3)\n"},
  };
  for (const KeysCase& keys : kCases) {
    SCOPED_TRACE(keys.name);
    SaveIntKeys(prefix, keys.shape, keys.values);
    COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".bucket_keys", keys.bucket_keys));
    COOPER_ASSERT_OK_AND_ASSIGN(auto loaded, BucketingModule::Load(prefix, 1, {}));
    COOPER_ASSERT_OK(loaded->Bind({.data_shapes = Data(), .label_shapes = Labels()}));
    const std::string again = testing::TempDir() + "/listed_again";
    COOPER_ASSERT_OK(loaded->SaveCheckpoint(again, 1));
    EXPECT_EQ(*ReadFile(again + ".bucket_keys"), keys.loaded);
    const std::string last = loaded->default_bucket_key()->ToString() + "\n";
    EXPECT_TRUE(std::string(keys.loaded).ends_with(last)) << last;
  }
}

TEST(BucketingCheckpointTest, EitherListIsEnough) {
  const std::string prefix = testing::TempDir() + "/either";
  for (const char* missing : {".buckets", ".bucket_keys"}) {
    Save(prefix, {2, 4});
    ASSERT_EQ(std::remove((prefix + missing).c_str()), 0);
    COOPER_ASSERT_OK_AND_ASSIGN(auto loaded, BucketingModule::Load(prefix, 1, {}));
    EXPECT_EQ(loaded->default_bucket_key(), BucketKey(4)) << missing;
  }
  ASSERT_EQ(std::remove((prefix + ".buckets").c_str()), 0);
  EXPECT_THAT(BucketingModule::Load(prefix, 1, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("either.buckets")));
}

// mx.callback.do_checkpoint saves only one symbol and the parameters of a bucketed run.
TEST(BucketingCheckpointTest, SymGenMakesTheBucketsWhereNoListIsSaved) {
  const std::string prefix = testing::TempDir() + "/no_list";
  Save(prefix, {2, 4});
  COOPER_ASSERT_OK_AND_ASSIGN(auto listed, BucketingModule::Load(prefix, 1, {}));
  for (const char* file : {".buckets", ".bucket_keys"}) {
    ASSERT_EQ(std::remove((prefix + file).c_str()), 0);
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto loaded,
      BucketingModule::Load(prefix, 1, {.sym_gen = Mean, .default_bucket_key = BucketKey(4)}));
  for (BucketingModule* model : {listed.get(), loaded.get()}) {
    COOPER_ASSERT_OK(model->Bind({.data_shapes = Data(), .label_shapes = Labels()}));
  }
  EXPECT_EQ(Floats(loaded->GetParams()->args.at("fc_weight")),
            Floats(listed->GetParams()->args.at("fc_weight")));
  EXPECT_THAT(BucketingModule::Load(prefix, 1, {.sym_gen = Mean}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no_list.buckets")));
}

TEST(BucketingCheckpointTest, WhatIsWrongWithAListNamesItsFile) {
  const std::string prefix = testing::TempDir() + "/wrong";
  Save(prefix, {2, 4});
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".bucket_keys", "2\nfour\n"));
  EXPECT_THAT(
      BucketingModule::Load(prefix, 1, {}),
      StatusIs(kInvalidArgument, AllOf(HasSubstr("wrong.bucket_keys: "), HasSubstr("'four'"))));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".bucket_keys", "2\n4\n"));
  // A list of one null array (params_format.h).
  const uint64_t header[] = {0x112, 0, 1};
  const uint32_t array[] = {0xF993fac9, 0, 0};
  const uint64_t no_names = 0;
  std::string bytes(reinterpret_cast<const char*>(header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(array), sizeof(array));
  bytes.append(reinterpret_cast<const char*>(&no_names), sizeof(no_names));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".buckets", bytes));
  EXPECT_THAT(BucketingModule::Load(prefix, 1, {}),
              StatusIs(kFailedPrecondition,
                       AllOf(HasSubstr("wrong.buckets: "), HasSubstr("the array is null"))));
}

TEST(BucketingCheckpointTest, ReadsSymbolsUpToTheLimit) {
  const std::string prefix = ::testing::TempDir() + "/limited";
  Save(prefix, {2});
  BucketingModuleOptions options;
  options.compute.load_limits.text_bytes = 16;
  EXPECT_THAT(BucketingModule::Load(prefix, 1, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("limited-2-symbol.json"), HasSubstr("more than 16 bytes"))));
}

}  // namespace
}  // namespace cooper
