// Tests buckets and their iterator at the limits of numbers and of memory.

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/buckets/bucket_iter.h"
#include "io/buckets/bucket_tuples.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Options = BucketIterOptions;
using Sequences = std::vector<std::vector<int>>;
using Tuple = BucketKey::Tuple;

TEST(BucketLimitsTest, OfOptionsThatChoosePairs) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<Tuple> pairs = {{1, 9}, {9, 1}, {5, 5}};
  for (const double max_steps : {0.0, 1e6}) {
    for (const double cost : {std::numeric_limits<double>::infinity(), 1e308, 1.7e308}) {
      COOPER_ASSERT_OK_AND_ASSIGN(
          const BucketTuples chosen,
          ChooseBucketTuples(pairs, {.bucket_cost = cost, .max_steps = max_steps}));
      EXPECT_THAT(chosen.buckets, ElementsAre(Tuple({9, 9})));
      EXPECT_EQ(chosen.padded_cost, 3 * 18);
      EXPECT_EQ(chosen.cost, cost + 3 * 18);
    }
    const auto dear = [](absl::Span<const int64_t>) { return 1e308; };
    for (const int64_t min_samples : {1, 2}) {
      const BucketTuplesOptions options = {
          .step_cost = dear, .min_samples = min_samples, .max_steps = max_steps};
      EXPECT_THAT(ChooseBucketTuples(pairs, options)->buckets, ElementsAre(Tuple({9, 9})));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(
        const BucketTuples chosen,
        ChooseBucketTuples(
            pairs, {.max_buckets = std::numeric_limits<int>::max(), .max_steps = max_steps}));
    EXPECT_EQ(chosen.buckets.size(), 3);
    EXPECT_DOUBLE_EQ(chosen.lower_bound, chosen.cost);
  }
  const auto with = [&](int64_t multiple_of, const Tuple& max_extents = {}) {
    return ChooseBucketTuples(pairs, {.multiple_of = multiple_of, .max_extents = max_extents});
  };
  EXPECT_THAT(with(kMax / 2 + 1)->buckets, ElementsAre(Tuple({kMax / 2 + 1, kMax / 2 + 1})));
  EXPECT_THAT(with(kMax - 1, {kMax, kMax})->buckets, ElementsAre(Tuple({kMax - 1, kMax - 1})));
  EXPECT_THAT(with(kMax), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("no sample is within what a multiple of")));
}

TEST(BucketLimitsTest, OfIntegersInADtype) {
  const auto create = [](DType dtype) {
    return BucketIter::Create(
        {{.name = "words", .values = Sequences{{1}, {2048, 2049}}, .dtype = dtype}}, {},
        {.batch_size = 1, .buckets = {2}});
  };
  EXPECT_THAT(create(DType::kFloat16),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 'words': sample 1 has the value 2049, which float16")));
  COOPER_EXPECT_OK(create(DType::kFloat32));
}

TEST(BucketLimitsTest, OfTheMemoryForABatch) {
  const auto iter =
      BucketIter::Create({{.name = "data", .values = Sequences{{1}, {2, 3}}}}, {},
                         {.buckets = {2},
                          .common = {.last_batch = Options::LastBatch::kPad,
                                     .tokens_per_batch = std::numeric_limits<int64_t>::max()}})
          .value();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kResourceExhausted,
                                       HasSubstr("batch of 4611686018427387903 rows")));
  }
}

TEST(BucketLimitsTest, OfNumbersOfTokens) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() - 1;
  const std::vector<int64_t> two = {kMax, kMax};
  EXPECT_THAT(ChooseBuckets(two, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more tokens than 2^63 - 1")));
}

// The sentence has more pieces than memory holds.
TEST(BucketLimitsTest, OfNumbersOfPieces) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() - 1;
  const auto split = [](const std::vector<int64_t>& lengths, int64_t max_length) {
    return ChooseBuckets(
        lengths, {.max_length = max_length, .too_long = BucketBoundariesOptions::TooLong::kSplit});
  };
  COOPER_ASSERT_OK_AND_ASSIGN(BucketBoundaries chosen, split({3, 1'000'000'000'001, 8}, 8));
  EXPECT_THAT(chosen.buckets, ElementsAre(1, 3, 8));
  EXPECT_EQ(chosen.tokens, 1'000'000'000'012);
  EXPECT_EQ(chosen.padded_tokens, chosen.tokens);
  EXPECT_EQ(chosen.split, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(chosen, split({kMax}, 1));
  EXPECT_EQ(chosen.tokens, kMax);
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{kMax, kMax}, std::vector<int64_t>{kMax, 1, 1}}) {
    EXPECT_THAT(split(lengths, 1), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("more tokens than 2^63 - 1")));
  }
}

}  // namespace
}  // namespace cooper
