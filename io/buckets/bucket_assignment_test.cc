#include "io/buckets/bucket_assignment.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

std::vector<std::vector<int>> OfLengths(const std::vector<int64_t>& lengths) {
  std::vector<std::vector<int>> sequences;
  sequences.reserve(lengths.size());
  for (int64_t length : lengths) sequences.emplace_back(static_cast<size_t>(length));
  return sequences;
}

std::vector<KeyedArray> Pairs(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return {{.name = "a", .values = OfLengths(a), .pad_to = {0}},
          {.name = "b", .values = OfLengths(b), .pad_to = {1}}};
}

// Returns the assignment as text: "(2, 3): 0 4; (5, 5): 1".
std::string Text(const BucketAssignment& assignment) {
  std::string text;
  for (const BucketAssignment::Bucket& bucket : assignment.buckets) {
    text += (text.empty() ? "" : "; ") + bucket.key.ToString() + ":";
    for (int64_t id : bucket.ids) text += " " + std::to_string(id);
  }
  return text;
}

TEST(AssignToBucketsTest, TakesTheSmallestIntegerThatHolds) {
  const std::vector<KeyedArray> arrays = {
      {.name = "a", .values = OfLengths({1, 3, 0, 7, 4}), .pad_to = {0}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketAssignment assignment,
                              AssignToBuckets(arrays, 5, {4, 2, 9, 2, 50}, false));
  EXPECT_EQ(Text(assignment), "2: 0 2; 4: 1 4; 9: 3");
}

TEST(AssignToBucketsTest, TakesThePairWithTheLeastPadding) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const BucketAssignment assignment,
      AssignToBuckets(Pairs({1, 4, 2, 9}, {3, 2, 8, 1}), 4, {{2, 9}, {5, 4}, {9, 9}}, false));
  EXPECT_EQ(Text(assignment), "(2, 9): 2; (5, 4): 0 1; (9, 9): 3");
}

TEST(AssignToBucketsTest, LeavesOutOrCutsWhatNoneHolds) {
  const auto arrays = Pairs({1, 4, 2, 9}, {3, 2, 8, 1});
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketAssignment left,
                              AssignToBuckets(arrays, 4, {{2, 3}, {4, 2}}, false));
  EXPECT_EQ(Text(left), "(2, 3): 0; (4, 2): 1");
  EXPECT_EQ(left.discarded, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketAssignment cut,
                              AssignToBuckets(arrays, 4, {{2, 3}, {4, 2}}, true));
  EXPECT_EQ(Text(cut), "(2, 3): 0 2; (4, 2): 1 3");
  EXPECT_EQ(cut.truncated, 2);
  EXPECT_EQ(cut.discarded, 0);
}

TEST(AssignToBucketsTest, TakesThePairOfLeastCost) {
  const auto cost = [](absl::Span<const int64_t> key) {
    return static_cast<double>(key[0] + 90 * key[1]);
  };
  COOPER_ASSERT_OK_AND_ASSIGN(
      const BucketAssignment assigned,
      AssignToBuckets(Pairs({1, 4, 2}, {3, 2, 8}), 3, {{2, 8}, {90, 4}}, false, cost));
  EXPECT_EQ(Text(assigned), "(2, 8): 2; (90, 4): 0 1");
}

// Tests integer keys, which have a search of their own.
TEST(AssignToBucketsTest, IntegersAreTuplesOfOne) {
  RandomGenerator random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<int64_t> lengths(40);
    for (int64_t& length : lengths) length = static_cast<int64_t>(random.NextBelow(30));
    std::vector<BucketKey> integers, tuples;
    for (int b = 0; b < 4; ++b) {
      const auto extent = static_cast<int64_t>(15 + random.NextBelow(10));
      integers.push_back(extent);
      tuples.push_back({extent});
    }
    const std::vector<KeyedArray> arrays = {
        {.name = "a", .values = OfLengths(lengths), .pad_to = {0}}};
    for (bool truncate : {false, true}) {
      const auto a = AssignToBuckets(arrays, 40, integers, truncate).value();
      const auto b = AssignToBuckets(arrays, 40, tuples, truncate).value();
      ASSERT_EQ(a.buckets.size(), b.buckets.size());
      for (size_t i = 0; i < a.buckets.size(); ++i) EXPECT_EQ(a.buckets[i].ids, b.buckets[i].ids);
      EXPECT_EQ(a.truncated, b.truncated);
      EXPECT_EQ(a.discarded, b.discarded);
    }
  }
}

TEST(AssignByKeyTest, GoesWhereTheKeySays) {
  const auto arrays = Pairs({1, 4, 2}, {3, 2, 8});
  const std::vector<std::optional<BucketKey>> keys = {{{4, 9}}, std::nullopt, {{4, 9}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketAssignment assignment, AssignByKey(arrays, keys, false));
  EXPECT_EQ(Text(assignment), "(4, 9): 0 2");
  EXPECT_EQ(assignment.discarded, 1);
}

TEST(BucketAssignmentErrorsTest, NameBucketAndSample) {
  using ::absl::StatusCode;
  const auto arrays = Pairs({1, 4}, {3, 2});
  EXPECT_THAT(AssignToBuckets(arrays, 2, {{5, 5}, {7}}, false),
              StatusIs(StatusCode::kInvalidArgument,
                       HasSubstr("bucket (7,) has no element 1, which 'b' is padded to")));
  EXPECT_THAT(AssignToBuckets(arrays, 2, {{5, 0}}, false),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("bucket (5, 0)")));
  EXPECT_THAT(AssignToBuckets(arrays, 2, {"long"}, false),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("bucket 'long' is a string")));
  EXPECT_THAT(AssignToBuckets(arrays, 2, {{1, 1}}, false),
              StatusIs(StatusCode::kInvalidArgument,
                       HasSubstr("all of 2 samples exceed the largest bucket, (1, 1)")));
  const std::vector<std::optional<BucketKey>> keys = {{{4, 9}}, {{5, 1}}};
  EXPECT_THAT(AssignByKey(arrays, keys, false),
              StatusIs(StatusCode::kInvalidArgument,
                       HasSubstr("sample 1 of 'b' has shape (2,), more than the bucket (5, 1)")));
  EXPECT_EQ(AssignByKey(arrays, keys, true)->truncated, 1);
  const std::vector<std::optional<BucketKey>> none(2);
  EXPECT_THAT(AssignByKey(arrays, none, true),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("none of 2 samples has a bucket")));
}

// A transcript and its recording: the key limits the lengths of both.
TEST(AssignToBucketsTest, CutsAsLittleOfLabelsAsOfData) {
  std::vector<KeyedArray> arrays = Pairs({2, 9}, {9, 8});
  arrays[1].is_data = false;
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketAssignment assignment,
                              AssignToBuckets(arrays, 2, {{4, 3}, {4, 8}}, true));
  EXPECT_EQ(Text(assignment), "(4, 8): 0 1");
}

}  // namespace
}  // namespace cooper
