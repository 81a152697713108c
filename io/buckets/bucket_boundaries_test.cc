#include "io/buckets/bucket_boundaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Options = BucketBoundariesOptions;

int64_t RoundUp(int64_t length, int64_t multiple) {
  return (length + multiple - 1) / multiple * multiple;
}

double StepCost(int64_t bucket, const Options& options) {
  return options.step_cost != nullptr ? options.step_cost(bucket)
                                      : static_cast<double>(bucket) + options.step_overhead;
}

// Returns the cost of sentences of these lengths in `buckets`; infinity if a bucket has too few of
// the sentences.
double CostOf(const std::vector<int64_t>& lengths, const std::vector<int64_t>& buckets,
              const Options& options) {
  std::map<int64_t, int64_t> sentences;
  int64_t all = 0;
  for (int64_t length : lengths) {
    if (length == 0) continue;
    ++sentences[*std::lower_bound(buckets.begin(), buckets.end(), length)];
    ++all;
  }
  double cost = options.bucket_cost * static_cast<double>(buckets.size());
  for (int64_t bucket : buckets) {
    if (sentences[bucket] < std::min(options.min_sentences, all)) {
      return std::numeric_limits<double>::infinity();
    }
    cost += static_cast<double>(sentences[bucket]) * StepCost(bucket, options);
  }
  return cost;
}

// Returns the least cost, found by trying all sets of candidate buckets.
double LeastCost(const std::vector<int64_t>& lengths, const Options& options) {
  std::set<int64_t> distinct;
  for (int64_t length : lengths) {
    if (length > 0) distinct.insert(RoundUp(length, options.multiple_of));
  }
  const std::vector<int64_t> candidates(distinct.begin(), distinct.end());
  double least = std::numeric_limits<double>::infinity();
  for (int mask = 1; mask < 1 << candidates.size(); ++mask) {
    std::vector<int64_t> buckets;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (mask >> i & 1) buckets.push_back(candidates[i]);
    }
    if (buckets.back() != candidates.back()) continue;
    if (static_cast<int>(buckets.size()) > options.max_buckets) continue;
    least = std::min(least, CostOf(lengths, buckets, options));
  }
  return least;
}

TEST(ChooseBucketsTest, NoChoiceCostsLess) {
  ForRandomCases(10000, [](RandomGenerator& random) {
    const auto below = [&](int bound) { return static_cast<int64_t>(random.NextBelow(bound)); };
    std::vector<int64_t> lengths(1 + below(30));
    const int64_t range = 2 + below(6), gap = 1 + below(60);  // counted and sorted
    for (int64_t& length : lengths) length = gap * below(static_cast<int>(range));
    lengths.push_back(gap);
    Options options = {.max_buckets = static_cast<int>(1 + below(10)),
                       .multiple_of = 1 + below(3),
                       .bucket_cost = 2.0 * static_cast<double>(below(20)),
                       .min_sentences = 1 + below(2) * below(12)};
    if (below(2) == 0) {
      options.step_overhead = 0.5;
    } else {  // rising, with level parts, neither convex nor concave
      std::vector<double> costs(gap * range + 4);
      for (size_t n = 1; n < costs.size(); ++n) {
        costs[n] = costs[n - 1] + 0.25 * static_cast<double>(below(2) * below(9));
      }
      options.step_cost = [costs](int64_t n) { return costs[n]; };
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries chosen, ChooseBuckets(lengths, options));
    ASSERT_EQ(chosen.cost, LeastCost(lengths, options));
    ASSERT_EQ(chosen.cost, CostOf(lengths, chosen.buckets, options));
    ASSERT_LE(chosen.buckets.size(), options.max_buckets);
  });
}

TEST(ChooseBucketsTest, CountsTokensAndPadding) {
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries chosen,
                              ChooseBuckets({1, 1, 1, 2, 9, 10, 0}, {.max_buckets = 2}));
  EXPECT_THAT(chosen.buckets, ElementsAre(2, 10));
  EXPECT_EQ(chosen.tokens, 24);
  EXPECT_EQ(chosen.padded_tokens, 8 + 20);
}

TEST(ChooseBucketsTest, RoundsUpToMultiples) {
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries chosen,
                              ChooseBuckets({3, 4, 9}, {.multiple_of = 8}));
  EXPECT_THAT(chosen.buckets, ElementsAre(8, 16));
}

TEST(ChooseBucketsTest, ADearBucketIsNotAdded) {
  const std::vector<int64_t> lengths = {1, 10};
  EXPECT_THAT(ChooseBuckets(lengths)->buckets, ElementsAre(1, 10));
  EXPECT_THAT(ChooseBuckets(lengths, {.bucket_cost = 10})->buckets, ElementsAre(10));
}

TEST(ChooseBucketsTest, TheLastBucketThatPaysIsTheLast) {
  std::vector<int64_t> lengths(100);
  std::iota(lengths.begin(), lengths.end(), 1);
  const Options options = {.max_buckets = 100, .bucket_cost = 100};
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries chosen, ChooseBuckets(lengths, options));
  const auto k = static_cast<int>(chosen.buckets.size());
  const auto padded = [&](int buckets) {
    return ChooseBuckets(lengths, {.max_buckets = buckets})->padded_tokens;
  };
  EXPECT_GT(padded(k - 1) - padded(k), 100);
  EXPECT_LE(padded(k) - padded(k + 1), 100);
}

TEST(ChooseBucketsTest, TakesTheTimeOfAStep) {
  // Below length 8 all steps take the same time, so more buckets there gain nothing.
  const auto time = [](int64_t n) { return static_cast<double>(std::max<int64_t>(n, 8)); };
  EXPECT_THAT(ChooseBuckets({1, 2, 3, 8, 12}, {.step_cost = time})->buckets, ElementsAre(8, 12));
}

TEST(ChooseBucketsTest, ABucketHasEnoughSentences) {
  const std::vector<int64_t> lengths = {1, 1, 1, 1, 5, 5, 9};
  EXPECT_THAT(ChooseBuckets(lengths)->buckets, ElementsAre(1, 5, 9));
  EXPECT_THAT(ChooseBuckets(lengths, {.min_sentences = 2})->buckets, ElementsAre(1, 9));
  EXPECT_THAT(ChooseBuckets(lengths, {.min_sentences = 8})->buckets, ElementsAre(9));
}

TEST(ChooseBucketsTest, CountsWhatIsTooLong) {
  const std::vector<int64_t> lengths = {3, 9, 20};
  Options options = {.max_length = 8};
  COOPER_ASSERT_OK_AND_ASSIGN(BucketBoundaries chosen, ChooseBuckets(lengths, options));
  EXPECT_THAT(chosen.buckets, ElementsAre(3));
  EXPECT_EQ(chosen.discarded, 2);
  EXPECT_EQ(chosen.tokens, 3);

  options.too_long = Options::TooLong::kTruncate;
  COOPER_ASSERT_OK_AND_ASSIGN(chosen, ChooseBuckets(lengths, options));
  EXPECT_THAT(chosen.buckets, ElementsAre(3, 8));
  EXPECT_EQ(chosen.truncated, 2);
  EXPECT_EQ(chosen.tokens, 3 + 8 + 8);

  options.too_long = Options::TooLong::kSplit;  // 8 + 1 and 8 + 8 + 4
  COOPER_ASSERT_OK_AND_ASSIGN(chosen, ChooseBuckets(lengths, options));
  EXPECT_THAT(chosen.buckets, ElementsAre(1, 3, 4, 8));
  EXPECT_EQ(chosen.split, 2);
  EXPECT_EQ(chosen.tokens, 3 + 9 + 20);

  options.too_long = Options::TooLong::kError;
  EXPECT_THAT(ChooseBuckets(lengths, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sentence 1 has 9 words, more than max_length, 8")));
}

TEST(ChooseBucketsTest, ASplitSentenceCountsAsItsPieces) {
  ForRandomCases(1000, [](RandomGenerator& random) {
    const auto below = [&](int bound) { return static_cast<int64_t>(random.NextBelow(bound)); };
    const int64_t most = 1 + below(12);
    std::vector<int64_t> lengths = {1}, pieces = {1};
    for (int64_t n = below(20); n > 0; --n) {
      int64_t length = below(60);
      lengths.push_back(length);
      for (; length > most; length -= most) pieces.push_back(most);
      pieces.push_back(length);
    }
    const int max_buckets = static_cast<int>(1 + below(6));
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries split,
                                ChooseBuckets(lengths, {.max_buckets = max_buckets,
                                                        .max_length = most,
                                                        .too_long = Options::TooLong::kSplit}));
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries apart,
                                ChooseBuckets(pieces, {.max_buckets = max_buckets}));
    EXPECT_EQ(split.buckets, apart.buckets);
    EXPECT_EQ(split.tokens, apart.tokens);
    EXPECT_EQ(split.padded_tokens, apart.padded_tokens);
    EXPECT_EQ(split.cost, apart.cost);
  });
}

TEST(ChooseBucketsTest, NoMultipleExceedsTheMaximum) {
  const Options options = {.multiple_of = 8, .max_length = 20};
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries chosen, ChooseBuckets({9, 17}, options));
  EXPECT_THAT(chosen.buckets, ElementsAre(16));
  EXPECT_EQ(chosen.discarded, 1);
}

TEST(ChooseBucketsTest, NamesWhatIsWrong) {
  const auto error = [](const std::vector<int64_t>& lengths, const Options& options,
                        const char* words) {
    EXPECT_THAT(ChooseBuckets(lengths, options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words)));
  };
  const auto falling = [](int64_t n) { return -static_cast<double>(n); };
  error({0, 0}, {}, "no sentence with a word");
  error({1, -2}, {}, "a length is -2");
  error({1}, {.max_buckets = 0}, "max_buckets is 0");
  error({1}, {.bucket_cost = std::nan("")}, "bucket_cost nan");
  error({1}, {.multiple_of = 8, .max_length = 7}, "max_length is 7, expected 0 (none) or at");
  error({9}, {.max_length = 8}, "no sentence has 1 to 8 words (max_length)");
  error({2, 3}, {.step_cost = falling}, "a step of length 3 costs -3, a shorter one -2");
  error({2}, {.step_overhead = 1, .step_cost = falling}, "step_cost or step_overhead, not both");
}

TEST(LengthsOfTest, CountsWords) {
  EXPECT_THAT(LengthsOf({{1, 2}, {}, {3}}), ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace cooper
