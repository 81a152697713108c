#include "io/batch/bucket_key.h"

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct Case {
  BucketKey key;
  std::string text;
};

// Returns keys and their texts, in rising order of the keys.
const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {-3, "-3"},
      {0, "0"},
      {10, "10"},
      {int64_t{1} << 40, "1099511627776"},
      {"", "''"},
      {"10", "'10'"},
      {"a", "'a'"},
      {"it's\n\\", R"('it\'s\n\\')"},
      {BucketKey::Tuple{}, "()"},
      {{10}, "(10,)"},
      {{10, -20}, "(10, -20)"},
      {{10, 20}, "(10, 20)"},
      {{10, 20, 5}, "(10, 20, 5)"},
  };
  return *cases;
}

TEST(BucketKeyTest, PrintsAndParsesBack) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(c.key.ToString(), c.text);
    EXPECT_THAT(BucketKey::Parse(c.text), IsOkAndHolds(c.key)) << c.text;
  }
}

TEST(BucketKeyTest, ParsesFreeSpacesAndDoubleQuotes) {
  EXPECT_THAT(BucketKey::Parse(" 10 "), IsOkAndHolds(BucketKey(10)));
  EXPECT_THAT(BucketKey::Parse("( 10,20 )"), IsOkAndHolds(BucketKey({10, 20})));
  EXPECT_THAT(BucketKey::Parse("\"a\""), IsOkAndHolds(BucketKey("a")));
}

TEST(BucketKeyTest, RefusesOtherTexts) {
  for (const char* text : {"", "a", "1.5", "(10)", "(10, x)", "(10, 20", "'a", "'", "(,)", "[1]"}) {
    EXPECT_THAT(BucketKey::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)))
        << text;
  }
}

TEST(BucketKeyTest, IsOrdered) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    for (size_t j = 0; j < Cases().size(); ++j) {
      EXPECT_EQ(Cases()[i].key < Cases()[j].key, i < j) << i << " " << j;
      EXPECT_EQ(Cases()[i].key == Cases()[j].key, i == j) << i << " " << j;
    }
  }
}

TEST(BucketKeyTest, HashesAgreeWithEquality) {
  absl::flat_hash_set<BucketKey> set;
  for (const Case& c : Cases()) set.insert(c.key);
  EXPECT_EQ(set.size(), Cases().size());
  for (const Case& c : Cases()) EXPECT_TRUE(set.contains(*BucketKey::Parse(c.text)));
}

}  // namespace
}  // namespace cooper
