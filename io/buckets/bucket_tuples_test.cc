#include "io/buckets/bucket_tuples.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tuple = BucketKey::Tuple;
using Tuples = std::vector<Tuple>;
using Options = BucketTuplesOptions;
using TooLong = BucketBoundariesOptions::TooLong;

double Product(absl::Span<const int64_t> bucket) {
  double product = 1;
  for (const int64_t extent : bucket) product *= static_cast<double>(extent);
  return product;
}

double StepCost(const Tuple& bucket, const Options& options) {
  if (options.step_cost != nullptr) return options.step_cost(bucket);
  double sum = 0;
  for (const int64_t extent : bucket) sum += static_cast<double>(extent);
  return sum;
}

// Returns the cost of the samples in `buckets`; infinity if a bucket has too few samples.
double CostOf(const Tuples& samples, const Tuples& buckets, const Options& options) {
  double cost = options.bucket_cost * static_cast<double>(buckets.size());
  std::vector<int64_t> counts(buckets.size());
  std::vector<double> steps(buckets.size());
  for (size_t b = 0; b < buckets.size(); ++b) steps[b] = StepCost(buckets[b], options);
  for (const Tuple& sample : samples) {
    double least = std::numeric_limits<double>::infinity();
    size_t owner = 0;
    for (size_t b = 0; b < buckets.size(); ++b) {
      bool holds = true;
      for (size_t a = 0; a < sample.size(); ++a) holds = holds && sample[a] <= buckets[b][a];
      if (!holds || steps[b] >= least) continue;
      least = steps[b];
      owner = b;
    }
    ++counts[owner];
    cost += least;
  }
  const auto all = static_cast<int64_t>(samples.size());
  const bool has_small =
      *std::min_element(counts.begin(), counts.end()) < std::min(options.min_samples, all);
  return has_small ? std::numeric_limits<double>::infinity() : cost;
}

// Finds the least cost by trying all sets of pairs whose elements occur in the samples.
class LeastCost {
 public:
  LeastCost(const Tuples& samples, const Options& options) : samples_(samples), options_(options) {
    for (const Tuple& a : samples) {
      for (const Tuple& b : samples) candidates_.push_back({a[0], b[1]});
    }
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    Try(0);
  }
  double cost() const { return cost_; }

 private:
  void Try(size_t first) {
    if (!chosen_.empty()) cost_ = std::min(cost_, CostOf(samples_, chosen_, options_));
    if (static_cast<int>(chosen_.size()) == options_.max_buckets) return;
    for (size_t c = first; c < candidates_.size(); ++c) {
      chosen_.push_back(candidates_[c]);
      Try(c + 1);
      chosen_.pop_back();
    }
  }

  const Tuples& samples_;
  const Options& options_;
  Tuples candidates_, chosen_;
  double cost_ = std::numeric_limits<double>::infinity();
};

// Returns `count` pairs with at most `values` different values.
Tuples RandomPairs(RandomGenerator& random, int count, int values) {
  const auto below = [&](int bound) { return static_cast<int64_t>(random.NextBelow(bound)); };
  Tuples pairs(count);
  const int64_t gap = 1 + below(9);
  for (Tuple& pair : pairs) {
    pair = {1 + gap * below(values), 1 + gap * below(values)};
    if (below(3) == 0) pair[1] = pair[0];  // lengths of translations are similar
  }
  return pairs;
}

Options RandomOptions(RandomGenerator& random) {
  Options options = {
      .max_buckets = static_cast<int>(1 + random.NextBelow(4)),
      .bucket_cost = static_cast<double>(random.NextBelow(2) * random.NextBelow(20))};
  if (random.NextBelow(2) == 0) options.step_cost = Product;
  return options;
}

TEST(ChooseBucketTuplesTest, NoChoiceCostsLessWhereAllAreTried) {
  ForRandomCases(1000, [](RandomGenerator& random) {
    const int count = static_cast<int>(2 + random.NextBelow(9));
    const Tuples pairs = RandomPairs(random, count, static_cast<int>(2 + random.NextBelow(4)));
    const Options options = RandomOptions(random);
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen, ChooseBucketTuples(pairs, options));
    ASSERT_TRUE(chosen.exact);
    ASSERT_EQ(chosen.cost, LeastCost(pairs, options).cost());
    ASSERT_EQ(chosen.cost, CostOf(pairs, chosen.buckets, options));
  });
}

TEST(ChooseBucketTuplesTest, ExchangeCostsLittleMore) {
  double worst = 1, sum = 0;
  int cases = 0, not_best = 0;
  ForRandomCases(1000, [&](RandomGenerator& random) {
    const int count = static_cast<int>(2 + random.NextBelow(60));
    const Tuples pairs = RandomPairs(random, count, static_cast<int>(2 + random.NextBelow(6)));
    Options options = RandomOptions(random);
    options.max_steps = 1e9;
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples best, ChooseBucketTuples(pairs, options));
    ASSERT_TRUE(best.exact);
    options.max_steps = 0;
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen, ChooseBucketTuples(pairs, options));
    ASSERT_FALSE(chosen.exact);
    ASSERT_EQ(chosen.cost, CostOf(pairs, chosen.buckets, options));
    ASSERT_LE(chosen.buckets.size(), options.max_buckets);
    ASSERT_LE(chosen.cost, 1.05 * best.cost);
    worst = std::max(worst, chosen.cost / best.cost);
    sum += chosen.cost / best.cost;
    not_best += chosen.cost > best.cost;
    ++cases;
  });
  std::cout << "of " << cases << " choices by exchange " << not_best << " are not the best; "
            << 100 * (worst - 1) << " % more at the most, " << 100 * (sum / cases - 1)
            << " % in the mean\n";
}

// Return costs that are not sums over the elements: the longer side, and the root of the product.
double Longer(absl::Span<const int64_t> bucket) {
  return static_cast<double>(*std::max_element(bucket.begin(), bucket.end()));
}
double RootOfProduct(absl::Span<const int64_t> bucket) { return std::sqrt(Product(bucket)); }

// For random costs and minimum samples: the bound, computed without trying all choices, must not
// exceed the cost of any choice.
TEST(ChooseBucketTuplesTest, NoChoiceCostsLessThanTheBound) {
  double worst = 1, sum = 0;
  int cases = 0, proven = 0;
  ForRandomCases(1000, [&](RandomGenerator& random) {
    const int count = static_cast<int>(2 + random.NextBelow(16));
    const Tuples pairs = RandomPairs(random, count, static_cast<int>(2 + random.NextBelow(6)));
    Options options = RandomOptions(random);
    const uint64_t kind = random.NextBelow(4);
    if (kind == 0) options.step_cost = Longer;
    if (kind == 1) options.step_cost = RootOfProduct;
    options.max_steps = 1e9;
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples best, ChooseBucketTuples(pairs, options));
    ASSERT_TRUE(best.exact);
    ASSERT_EQ(best.lower_bound, best.cost);
    options.max_steps = 0;
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen, ChooseBucketTuples(pairs, options));
    ASSERT_LE(chosen.lower_bound, best.cost * (1 + 1e-12));
    ASSERT_GE(chosen.lower_bound, best.own_cost * (1 - 1e-8));
    if (kind < 2) return;
    worst = std::max(worst, chosen.cost / chosen.lower_bound);
    sum += chosen.cost / chosen.lower_bound;
    proven += chosen.cost <= chosen.lower_bound * (1 + 1e-8);
    ++cases;
  });
  std::cout << "of " << cases << " choices by exchange " << proven << " are proven to be the best; "
            << "cost / lower_bound is " << worst << " at the most, " << sum / cases
            << " in the mean\n";
}

// With one element the bound is the exact solution.
TEST(ChooseBucketTuplesTest, TheBoundOfOneElementIsItsCost) {
  for (const int max_buckets : {1, 3, 8}) {
    Tuples tuples;
    std::vector<int64_t> lengths;
    RandomGenerator random(3);
    for (int i = 0; i < 300; ++i) {
      lengths.push_back(static_cast<int64_t>(1 + random.NextBelow(90)));
      tuples.push_back({lengths.back(), 1});
    }
    Options options = {.max_buckets = max_buckets, .bucket_cost = 40, .max_steps = 0};
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen, ChooseBucketTuples(tuples, options));
    COOPER_ASSERT_OK_AND_ASSIGN(
        const BucketBoundaries best,
        ChooseBuckets(lengths, {.max_buckets = max_buckets, .bucket_cost = 40}));
    EXPECT_DOUBLE_EQ(chosen.lower_bound, best.cost + 300);  // an element of 1 each
    EXPECT_LT(chosen.cost, 1.02 * chosen.lower_bound);
  }
}

TEST(ChooseBucketTuplesTest, ABucketHasEnoughSamples) {
  double sum = 0;
  int cases = 0;
  ForRandomCases(1000, [&](RandomGenerator& random) {
    const Tuples pairs = RandomPairs(random, 10, static_cast<int>(2 + random.NextBelow(3)));
    Options options = RandomOptions(random);
    options.min_samples = static_cast<int64_t>(1 + random.NextBelow(12));
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen, ChooseBucketTuples(pairs, options));
    ASSERT_EQ(chosen.cost, CostOf(pairs, chosen.buckets, options));  // finite
    const double least = LeastCost(pairs, options).cost();
    if (chosen.exact) {
      ASSERT_EQ(chosen.cost, least);
    }
    ASSERT_LE(chosen.lower_bound, least);
    sum += chosen.cost / least;
    ++cases;
  });
  std::cout << "united: " << 100 * (sum / cases - 1) << " % more than the best in the mean\n";
}

// If one length determines the other, the optimum is known.
TEST(ChooseBucketTuplesTest, AThinGridCostsLittleMore) {
  RandomGenerator random(1);
  for (const int max_buckets : {3, 10}) {
    std::vector<int64_t> lengths(3000);
    Tuples pairs;
    for (int64_t& length : lengths) {
      const double u = random.NextUniform();
      length = 1 + static_cast<int64_t>(u * u * 400);
      pairs.push_back({length, 2 * length});
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen,
                                ChooseBucketTuples(pairs, {.max_buckets = max_buckets}));
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries best,
                                ChooseBuckets(lengths, {.max_buckets = max_buckets}));
    EXPECT_LE(chosen.cost, 1.02 * 3 * best.cost) << max_buckets;
    std::cout << max_buckets << " buckets: " << 100 * (chosen.cost / (3 * best.cost) - 1)
              << " % more\n";
  }
}

// Returns pairs of sources of 1 to `longest` words and translations of about as many: with 50 words
// the grid has more than 1,024 points.
Tuples Pairs(int64_t count, int64_t longest) {
  RandomGenerator random(1);
  Tuples pairs;
  for (int64_t i = 0; i < count; ++i) {
    const double u = random.NextUniform();
    const auto source = 1 + static_cast<int64_t>(u * u * static_cast<double>(longest));
    const double ratio = 0.8 + 0.5 * random.NextUniform();
    pairs.push_back({source, 1 + static_cast<int64_t>(ratio * static_cast<double>(source))});
  }
  return pairs;
}

TEST(ChooseBucketTuplesTest, BeatsEqualDistancesOnALargeGrid) {
  const Tuples pairs = Pairs(20000, 50);
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen,
                              ChooseBucketTuples(pairs, {.max_buckets = 5}));
  EXPECT_FALSE(chosen.exact);
  EXPECT_EQ(chosen.buckets.size(), 5);
  EXPECT_EQ(chosen.cost, CostOf(pairs, chosen.buckets, {}));
  EXPECT_LE(chosen.lower_bound, chosen.cost);
  EXPECT_LT(chosen.cost, 1.1 * chosen.lower_bound);
  std::cout << "cost / lower_bound " << chosen.cost / chosen.lower_bound << "\n";
  const double by_hand = CostOf(pairs, {{10, 13}, {20, 26}, {30, 39}, {40, 52}, {50, 66}}, {});
  EXPECT_LT(chosen.cost - chosen.own_cost, 0.9 * (by_hand - chosen.own_cost));
  // A bucket whose element is one less or more is no better.
  for (size_t b = 0; b < 5; ++b) {
    for (int a : {0, 1}) {
      for (int by : {-1, 1}) {
        Tuples moved = chosen.buckets;
        moved[b][a] += by;
        EXPECT_GE(CostOf(pairs, moved, {}), chosen.cost) << b << " " << a << " " << by;
      }
    }
  }
}

TEST(ChooseBucketTuplesTest, TakesImagesByTheirArea) {
  const Tuples shapes = {{100, 400}, {400, 100}, {100, 390}, {200, 200}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      const BucketTuples chosen,
      ChooseBucketTuples(shapes, {.max_buckets = 3, .multiple_of = 32, .step_cost = Product}));
  EXPECT_THAT(chosen.buckets, ElementsAre(Tuple({128, 416}), Tuple({224, 224}), Tuple({416, 128})));
  EXPECT_EQ(chosen.own_cost, 100 * 400 * 2 + 100 * 390 + 200 * 200);
  EXPECT_EQ(chosen.padded_cost, 128 * 416 * 3 + 224 * 224);
}

TEST(ChooseBucketTuplesTest, ADearBucketIsNotAdded) {
  const Tuples pairs = {{1, 9}, {9, 1}};
  EXPECT_THAT(ChooseBucketTuples(pairs)->buckets, ElementsAre(Tuple({1, 9}), Tuple({9, 1})));
  for (double max_steps : {0.0, 1e6}) {
    const Options options = {.bucket_cost = 17, .max_steps = max_steps};
    EXPECT_THAT(ChooseBucketTuples(pairs, options)->buckets, ElementsAre(Tuple({9, 9})));
  }
}

TEST(ChooseBucketTuplesTest, TakesThreeElements) {
  const Tuples clips = {{8, 32, 32}, {16, 32, 32}, {16, 64, 32}, {8, 32, 32}};
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples chosen,
                              ChooseBucketTuples(clips, {.max_buckets = 2, .step_cost = Product}));
  EXPECT_THAT(chosen.buckets, ElementsAre(Tuple({8, 32, 32}), Tuple({16, 64, 32})));
}

TEST(ChooseBucketTuplesTest, CountsWhatIsTooLong) {
  const Tuples pairs = {{3, 4}, {9, 4}, {0, 5}, {0, 0}};
  Options options = {.max_extents = {8, 0}};
  COOPER_ASSERT_OK_AND_ASSIGN(BucketTuples chosen, ChooseBucketTuples(pairs, options));
  EXPECT_THAT(chosen.buckets, ElementsAre(Tuple({1, 5}), Tuple({3, 4})));
  EXPECT_EQ(chosen.discarded, 1);

  options.too_long = TooLong::kTruncate;
  COOPER_ASSERT_OK_AND_ASSIGN(chosen, ChooseBucketTuples(pairs, options));
  EXPECT_THAT(chosen.buckets, ElementsAre(Tuple({1, 5}), Tuple({3, 4}), Tuple({8, 4})));
  EXPECT_EQ(chosen.truncated, 1);

  options.too_long = TooLong::kError;
  EXPECT_THAT(ChooseBucketTuples(pairs, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sample 1 are (9, 4), more than max_extents, (8, 0)")));
}

TEST(ChooseBucketTuplesTest, NamesWhatIsWrong) {
  const auto error = [](const Tuples& samples, const Options& options, const char* words) {
    EXPECT_THAT(ChooseBucketTuples(samples, options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words)));
  };
  const auto falling = [](absl::Span<const int64_t> bucket) {
    return 9.0 - static_cast<double>(bucket[1]);
  };
  error({}, {}, "no sample with an extent");
  error({{1, 1}, {2}}, {}, "sample 1 has 1 extents, expected as many as sample 0");
  error({{1, 1}, {2, -3}}, {}, "the extents of sample 1 are (2, -3)");
  error({{1, 1}}, {.max_buckets = 0}, "max_buckets is 0");
  error({{1, 1}}, {.max_extents = {3}}, "max_extents is (3,), samples have 2 extents");
  error({{1, 1}}, {.multiple_of = 8, .max_extents = {8, 4}}, "at least multiple_of, 8");
  error({{5, 5}}, {.max_extents = {4, 4}}, "no sample is within max_extents, (4, 4)");
  error({{1, 1}, {1, 2}}, {.step_cost = falling}, "a step of (1, 2) costs 7, one within it 8");
  error({{1, 1}}, {.too_long = TooLong::kSplit}, "cannot be split");
}

}  // namespace
}  // namespace cooper
