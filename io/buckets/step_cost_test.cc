#include "io/buckets/step_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_boundaries.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using Times = std::vector<StepTime>;

double Distance(const Times& times, const StepCost& cost) {
  double sum = 0;
  for (const StepTime& step : times) sum += std::pow(cost(step.length) - step.time, 2);
  return sum;
}

TEST(FitStepCostTest, OfLengthsThatDifferLittle) {
  constexpr int64_t kLong = 100'000'000;
  COOPER_ASSERT_OK_AND_ASSIGN(const StepCost cost,
                              FitStepCost(Times{{.length = kLong, .time = 1},
                                                {.length = kLong + 1, .time = 2},
                                                {.length = kLong + 2, .time = 3}}));
  EXPECT_TRUE(std::isfinite(cost.overhead) && std::isfinite(cost.per_token));
}

TEST(FitStepCostTest, NoLineIsNearer) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomGenerator random(seed);
    Times times = {{.length = 3, .time = 10 * random.NextUniform()}};
    for (int i = 0; i < 4; ++i) {
      const auto length = static_cast<int64_t>(4 + random.NextBelow(20));
      const double slope = 2 * random.NextUniform() - 0.5;
      times.push_back(
          {.length = length,
           .time = std::max(0.0, 3 * random.NextNormal() + slope * static_cast<double>(length))});
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const StepCost cost, FitStepCost(times));
    ASSERT_GE(cost.overhead, 0);
    ASSERT_GE(cost.per_token, 0);
    for (const double by : {-1e-3, 1e-3}) {
      for (const StepCost& other : {StepCost{cost.overhead + by, cost.per_token},
                                    StepCost{cost.overhead, cost.per_token + by},
                                    StepCost{cost.overhead + by, cost.per_token - by / 10}}) {
        if (other.overhead < 0 || other.per_token < 0) continue;
        EXPECT_GE(Distance(times, other), Distance(times, cost));
      }
    }
  }
}

TEST(FitStepCostTest, IsAStepCost) {
  COOPER_ASSERT_OK_AND_ASSIGN(const StepCost cost, FitStepCost(Times{{10, 110}, {60, 160}}));
  EXPECT_DOUBLE_EQ(cost.overhead, 100);
  EXPECT_DOUBLE_EQ(cost.per_token, 1);
  EXPECT_DOUBLE_EQ(ChooseBuckets({1, 5}, {.max_buckets = 1, .step_cost = cost})->cost, 2 * 105);
}

TEST(FitStepCostTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(FitStepCost({}), StatusIs(code, HasSubstr("several lengths")));
  EXPECT_THAT(FitStepCost(Times{{7, 1}, {7, 2}}), StatusIs(code, HasSubstr("several lengths")));
  EXPECT_THAT(FitStepCost(Times{{0, 1}, {7, 2}}), StatusIs(code, HasSubstr("length 0 takes 1")));
  EXPECT_THAT(FitStepCost(Times{{1, 1}, {7, -2}}), StatusIs(code, HasSubstr("7 takes -2")));
}

TEST(InterpolateStepCostTest, IsStraightBetweenLengthsAndBeyond) {
  COOPER_ASSERT_OK_AND_ASSIGN(const StepCostLines cost,
                              InterpolateStepCost(Times{{30, 90}, {10, 10}, {20, 40}}));
  const std::vector<std::pair<int64_t, double>> expected = {
      {1, 0}, {7, 1}, {10, 10}, {12, 16}, {20, 40}, {24, 60}, {30, 90}, {40, 140}};
  for (const auto& [length, time] : expected) EXPECT_DOUBLE_EQ(cost(length), time) << length;
  COOPER_EXPECT_OK(ChooseBuckets({1, 9, 10, 11, 40}, {.max_buckets = 2, .step_cost = cost}));
}

TEST(InterpolateStepCostTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(InterpolateStepCost({}), StatusIs(code, HasSubstr("several lengths")));
  EXPECT_THAT(InterpolateStepCost(Times{{7, 1}}), StatusIs(code, HasSubstr("several lengths")));
  EXPECT_THAT(InterpolateStepCost(Times{{7, 1}, {0, 1}}), StatusIs(code, HasSubstr("length 0")));
  EXPECT_THAT(InterpolateStepCost(Times{{7, 1}, {7, 1}}), StatusIs(code, HasSubstr("each length")));
  EXPECT_THAT(InterpolateStepCost(Times{{7, 1}, {5, 2}}),
              StatusIs(code, HasSubstr("length 5 takes 2 and one of length 7 1")));
}

}  // namespace
}  // namespace cooper
