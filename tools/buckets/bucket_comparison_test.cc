#include "tools/buckets/bucket_comparison.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_boundaries.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using TooLong = BucketBoundariesOptions::TooLong;
using Tuple = BucketKey::Tuple;

TEST(BucketComparisonTest, HasEachNumberOfBuckets) {
  const auto comparison = CompareBuckets({.first = {2, 4, 4, 10}}, {.bucket_cost = 0});
  ASSERT_THAT(comparison, IsOk());
  ASSERT_THAT(comparison->by_number, SizeIs(3));  // a fourth saves nothing
  EXPECT_THAT(comparison->by_number[0].buckets, ElementsAre(Tuple{10}));
  EXPECT_EQ(comparison->by_number[0].padded_tokens, 40);
  EXPECT_THAT(comparison->by_number[1].buckets, ElementsAre(Tuple{4}, Tuple{10}));
  EXPECT_EQ(comparison->by_number[1].padded_tokens, 22);
  EXPECT_EQ(comparison->by_number[2].padded_tokens, 20);
  EXPECT_EQ(comparison->recommended, 3);
  EXPECT_EQ(comparison->samples, 4);
  EXPECT_EQ(comparison->tokens, 20);
  EXPECT_EQ(comparison->min_cost, 20);
  EXPECT_EQ(comparison->lost_tokens, 0);
  ASSERT_THAT(comparison->rows, SizeIs(3));
  EXPECT_EQ(comparison->rows[1].samples, 2);
  EXPECT_EQ(comparison->rows[1].tokens, 8);
  EXPECT_DOUBLE_EQ(comparison->Padding(comparison->by_number[0]), 0.5);
  EXPECT_EQ(comparison->rows[1].padding(), 0);
}

TEST(BucketComparisonTest, RecommendsWhatPays) {
  const SampleLengths lengths{.first = {2, 4, 4, 10}};
  EXPECT_EQ(CompareBuckets(lengths, {.bucket_cost = 1.9})->recommended, 3);
  EXPECT_EQ(CompareBuckets(lengths, {.bucket_cost = 2})->recommended, 2);
  EXPECT_EQ(CompareBuckets(lengths, {.bucket_cost = 18})->recommended, 1);
  EXPECT_EQ(CompareBuckets(lengths, {.max_buckets = 2, .bucket_cost = 0})->recommended, 2);
  // By default a bucket costs 1 % of the tokens, 0.2.
  EXPECT_EQ(CompareBuckets(lengths, {})->recommended, 3);
  EXPECT_DOUBLE_EQ(CompareBuckets(lengths, {})->bucket_cost, 0.2);
}

TEST(BucketComparisonTest, CountsTheOverheadOfSteps) {
  const auto comparison = CompareBuckets({.first = {2, 4}}, {.step_overhead = 10});
  ASSERT_THAT(comparison, IsOk());
  EXPECT_EQ(comparison->min_cost, 26);
  EXPECT_EQ(comparison->by_number[0].cost, 28);
}

TEST(BucketComparisonTest, TellsWhatBecomesOfLongOnes) {
  const SampleLengths lengths{.first = {3, 8, 25}};
  const auto with = [&](TooLong too_long) {
    return CompareBuckets(lengths, {.bucket_cost = 0, .max_length = 10, .too_long = too_long});
  };
  const auto discarded = with(TooLong::kDiscard);
  ASSERT_THAT(discarded, IsOk());
  EXPECT_EQ(discarded->discarded, 1);
  EXPECT_EQ(discarded->samples, 2);
  EXPECT_EQ(discarded->lost_tokens, 25);
  const auto truncated = with(TooLong::kTruncate);
  ASSERT_THAT(truncated, IsOk());
  EXPECT_EQ(truncated->truncated, 1);
  EXPECT_EQ(truncated->samples, 3);
  EXPECT_EQ(truncated->lost_tokens, 15);
  const auto split = with(TooLong::kSplit);
  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->split, 1);
  EXPECT_EQ(split->samples, 5);
  EXPECT_EQ(split->lost_tokens, 0);
  EXPECT_THAT(with(TooLong::kError),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 25 words")));
}

TEST(BucketComparisonTest, ChoosesNoBucketsBelowABatch) {
  std::vector<int64_t> lengths(40, 5);
  lengths.insert(lengths.end(), 10, 9);
  EXPECT_EQ(CompareBuckets({.first = lengths}, {.bucket_cost = 0})->recommended, 2);
  EXPECT_EQ(CompareBuckets({.first = lengths}, {.bucket_cost = 0, .batch_size = 32})->recommended,
            1);
}

TEST(BucketComparisonTest, ComparesWithBucketsInUse) {
  const auto comparison = CompareBuckets({.first = {2, 4, 4, 10}}, {.in_use = {8, 4, 8}});
  ASSERT_THAT(comparison, IsOk());
  ASSERT_THAT(comparison->rows_in_use, SizeIs(2));
  EXPECT_EQ(comparison->rows_in_use[0].bucket, Tuple{4});
  EXPECT_EQ(comparison->rows_in_use[0].samples, 3);
  EXPECT_EQ(comparison->rows_in_use[0].padded_tokens, 12);
  EXPECT_EQ(comparison->rows_in_use[1].samples, 0);
}

TEST(BucketComparisonTest, PairsGoToTheCheapestBucket) {
  const auto comparison =
      CompareBuckets({.first = {2, 2, 6, 0}, .second = {3, 2, 1, 1}}, {.bucket_cost = 0});
  ASSERT_THAT(comparison, IsOk());
  EXPECT_THAT(comparison->by_number[0].buckets, ElementsAre(Tuple{6, 3}));
  EXPECT_EQ(comparison->by_number[0].padded_tokens, 36);
  EXPECT_THAT(comparison->by_number[1].buckets, ElementsAre(Tuple{2, 3}, Tuple{6, 1}));
  EXPECT_EQ(comparison->by_number[1].padded_tokens, 22);
  EXPECT_EQ(comparison->samples, 4);
  EXPECT_EQ(comparison->tokens, 17);
}

// Compares the totals of ChooseBuckets with those that the rows count sample by sample.
TEST(BucketComparisonTest, RowsAddUp) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomGenerator random(seed);
    SampleLengths lengths;
    const bool pairs = seed % 3 == 0;
    for (int i = 0; i < 60; ++i) {
      lengths.first.push_back(static_cast<int64_t>(1 + random.NextBelow(30)));
      if (pairs) lengths.second.push_back(static_cast<int64_t>(1 + random.NextBelow(30)));
    }
    const BucketComparisonOptions options{
        .max_buckets = static_cast<int>(1 + random.NextBelow(6)),
        .bucket_cost = static_cast<double>(random.NextBelow(30)),
        .multiple_of = static_cast<int64_t>(1 + random.NextBelow(4)),
        .step_overhead = static_cast<double>(random.NextBelow(5)),
        .max_length = random.NextBelow(2) == 0 ? 0 : 22,
        .too_long = random.NextBelow(2) == 0            ? TooLong::kDiscard
                    : pairs || random.NextBelow(2) == 0 ? TooLong::kTruncate
                                                        : TooLong::kSplit,
    };
    const auto comparison = CompareBuckets(lengths, options);
    ASSERT_THAT(comparison, IsOk()) << "seed " << seed;
    int64_t padded = 0;
    double cost = 0;
    for (const BucketRow& row : comparison->rows) {
      EXPECT_GT(row.samples, 0) << "seed " << seed;
      EXPECT_GE(row.padding(), 0) << "seed " << seed;
      padded += row.padded_tokens;
      cost += static_cast<double>(row.padded_tokens) +
              options.step_overhead * static_cast<double>(row.samples);
    }
    EXPECT_EQ(padded, comparison->best().padded_tokens) << "seed " << seed;
    EXPECT_DOUBLE_EQ(cost, comparison->best().cost) << "seed " << seed;
    EXPECT_GE(comparison->best().cost, comparison->min_cost) << "seed " << seed;
    if (pairs) continue;
    const auto best = ChooseBuckets(lengths.first, {.max_buckets = options.max_buckets,
                                                    .multiple_of = options.multiple_of,
                                                    .bucket_cost = options.bucket_cost,
                                                    .step_overhead = options.step_overhead,
                                                    .max_length = options.max_length,
                                                    .too_long = options.too_long});
    ASSERT_THAT(best, IsOk());
    EXPECT_EQ(static_cast<int>(best->buckets.size()), comparison->recommended) << "seed " << seed;
    EXPECT_EQ(best->tokens, comparison->tokens) << "seed " << seed;
    EXPECT_EQ(best->padded_tokens, padded) << "seed " << seed;
  }
}

TEST(BucketComparisonTest, NamesTheOptionThatIsWrong) {
  struct Case {
    BucketComparisonOptions options;
    std::string message;
  };
  for (const auto& [options, message] : std::vector<Case>{
           {{.max_buckets = 0}, "max_buckets is 0, expected 1 to 64"},
           {{.max_buckets = 65}, "max_buckets is 65"},
           {{.bucket_cost = std::nan("")}, "bucket_cost is nan"},
           {{.multiple_of = 0}, "multiple_of is 0"},
           {{.multiple_of = 2000000000}, "multiple_of is 2000000000"},
           {{.step_overhead = -1}, "step_overhead is -1"},
           {{.max_length = -1}, "max_length is -1"},
           {{.multiple_of = 8, .max_length = 7}, "max_length is 7, expected 0 (none), or multiple"},
           {{.batch_size = -1}, "batch_size is -1"},
           {{.max_length = 1, .too_long = TooLong::kSplit}, "over 100,000,000 samples"},
           {{.in_use = {10, 0}}, "a bucket in use is 0"},
           {{.max_length = 1}, "no sentence has 1 to 1 words"},
       }) {
    EXPECT_THAT(CompareBuckets({.first = {1000000000}}, options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
  EXPECT_THAT(CompareBuckets({.first = {1}, .second = {1}}, {.in_use = {1}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("which pairs do not")));
  EXPECT_THAT(CompareBuckets({.first = {1}, .second = {1}}, {.too_long = TooLong::kSplit}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too_long is split")));
}

TEST(PaddingShareTest, IsOfThePaddedTokens) {
  EXPECT_DOUBLE_EQ(PaddingShare(75, 100), 0.25);
  EXPECT_EQ(PaddingShare(0, 0), 0);
}

}  // namespace
}  // namespace cooper
