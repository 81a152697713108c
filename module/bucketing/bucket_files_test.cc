#include "module/bucketing/bucket_files.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Returns the prefix of files in an empty folder.
std::string Prefix(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder + "/model";
}

std::map<BucketKey, Symbol> SymbolsOf(const std::vector<BucketKey>& keys) {
  std::map<BucketKey, Symbol> symbols;
  for (const BucketKey& key : keys) symbols.emplace(key, Symbol::Variable("of_" + key.ToString()));
  return symbols;
}

TEST(BucketFilesTest, KeysOfEveryKindAreReadAgain) {
  const std::string prefix = Prefix("kinds");
  const std::vector<BucketKey> keys = {10, "long", BucketKey({12, 20})};
  COOPER_ASSERT_OK(SaveBucketSymbols(prefix, SymbolsOf(keys)));
  auto read = LoadBucketKeys(prefix);
  COOPER_ASSERT_OK(read.status());
  const std::map<BucketKey, int> unique = [&] {
    std::map<BucketKey, int> counts;
    for (const BucketKey& key : *read) ++counts[key];
    return counts;
  }();
  EXPECT_EQ(unique.size(), keys.size());
  for (const BucketKey& key : keys) EXPECT_TRUE(unique.contains(key)) << key.ToString();
  const auto symbols = LoadBucketSymbols(prefix, keys, {});
  COOPER_ASSERT_OK(symbols.status());
  EXPECT_EQ(symbols->at("long").symbol.ListArguments().front(),
            SymbolsOf(keys).at("long").ListArguments().front());
}

TEST(BucketFilesTest, KeysThatShareAFileAreRefused) {
  const std::string prefix = Prefix("shared");
  EXPECT_THAT(SaveBucketSymbols(prefix, SymbolsOf({10, "10"})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("10")));
  EXPECT_THAT(SaveBucketSymbols(prefix, SymbolsOf({"a/b"})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a/b")));
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(prefix).parent_path()))
      << "nothing is written";
}

TEST(BucketFilesTest, AListOfAnotherRunIsLeftOut) {
  const std::string prefix = Prefix("other");
  COOPER_ASSERT_OK(SaveBucketSymbols(prefix, SymbolsOf({10, 20, "long"})));
  const std::string all = ReadTextFile(prefix + ".bucket_keys").value();
  COOPER_ASSERT_OK(SaveBucketSymbols(prefix, SymbolsOf({10, 30})));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".bucket_keys", all));
  const auto keys = LoadBucketKeys(prefix);
  COOPER_ASSERT_OK(keys.status());
  EXPECT_THAT(*keys, UnorderedElementsAre(10, 30)) << "MXNet has written .buckets since";
}

TEST(BucketFilesTest, MxnetsListAloneServes) {
  const std::string prefix = Prefix("mxnet");
  COOPER_ASSERT_OK(SaveBucketSymbols(prefix, SymbolsOf({10, 20})));
  std::filesystem::remove(prefix + ".bucket_keys");
  const auto keys = LoadBucketKeys(prefix);
  COOPER_ASSERT_OK(keys.status());
  EXPECT_THAT(*keys, UnorderedElementsAre(10, 20));
  std::filesystem::remove(prefix + ".buckets");
  EXPECT_EQ(LoadBucketKeys(prefix).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace cooper
