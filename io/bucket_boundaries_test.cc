#include "io/bucket_boundaries.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

double CostOf(const std::vector<int64_t>& lengths, const std::vector<int64_t>& buckets,
              const BucketBoundariesOptions& options) {
  double cost = options.bucket_cost * static_cast<double>(buckets.size());
  for (int64_t length : lengths) {
    if (length == 0) continue;
    cost += static_cast<double>(*std::lower_bound(buckets.begin(), buckets.end(), length)) +
            options.step_overhead;
  }
  return cost;
}

// Tries all sets of candidate buckets.
double LeastCost(const std::vector<int64_t>& lengths, const BucketBoundariesOptions& options) {
  std::set<int64_t> distinct;
  for (int64_t length : lengths) {
    if (length == 0) continue;
    distinct.insert((length + options.multiple_of - 1) / options.multiple_of * options.multiple_of);
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
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomGenerator random(seed);
    std::vector<int64_t> lengths;
    for (int i = 0; i < 30; ++i) lengths.push_back(static_cast<int64_t>(random.NextBelow(11)));
    for (int max_buckets : {1, 2, 3, 20}) {
      for (int64_t multiple_of : {1, 3}) {
        for (double bucket_cost : {0.0, 5.0}) {
          const BucketBoundariesOptions options = {.max_buckets = max_buckets,
                                                   .multiple_of = multiple_of,
                                                   .bucket_cost = bucket_cost,
                                                   .step_overhead = 0.5};
          COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries chosen,
                                      ChooseBuckets(lengths, options));
          EXPECT_NEAR(chosen.cost, LeastCost(lengths, options), 1e-9) << "seed " << seed;
          EXPECT_NEAR(chosen.cost, CostOf(lengths, chosen.buckets, options), 1e-9);
          EXPECT_LE(chosen.buckets.size(), max_buckets);
        }
      }
    }
  }
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

TEST(ChooseBucketsTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ChooseBuckets({0, 0}), StatusIs(code, HasSubstr("no sentence with a word")));
  EXPECT_THAT(ChooseBuckets({1, -2}), StatusIs(code, HasSubstr("a length is -2")));
  EXPECT_THAT(ChooseBuckets({1}, {.max_buckets = 0}),
              StatusIs(code, HasSubstr("max_buckets is 0")));
}

TEST(LengthsOfTest, CountsWords) {
  EXPECT_THAT(LengthsOf({{1, 2}, {}, {3}}), ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace cooper
