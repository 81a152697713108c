#include "executor/plan/memory_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct PlanCase {
  const char* name;
  std::vector<LiveRange> ranges;
  int64_t arena_size;
  int64_t lower_bound;
};

// Sizes in bytes; offsets are multiples of 64.
const PlanCase kCases[] = {
    {"Empty", {}, 0, 0},
    {"NoBytes", {{0, 0, 5}}, 0, 0},
    {"OneIsAligned", {{1, 0, 0}}, 64, 64},
    {"ReusesAfterTheLastStep", {{128, 0, 1}, {128, 2, 3}}, 128, 128},
    {"TheLastStepIsIncluded", {{128, 0, 2}, {128, 2, 3}}, 256, 256},
    {"TwoSmallFitWhereOneLargeWas", {{256, 0, 0}, {128, 1, 1}, {128, 1, 1}}, 256, 256},
    {"LargeTakesMergedNeighbours", {{64, 0, 0}, {64, 0, 0}, {128, 1, 1}}, 128, 128},
    {"Pyramid", {{64, 0, 6}, {64, 1, 5}, {64, 2, 4}}, 192, 192},
    // Of the orders only that by breadth gets there.
    {"FromTheFullestStep",
     {{256, 1, 2},
      {384, 7, 10},
      {128, 2, 3},
      {128, 0, 1},
      {320, 4, 8},
      {64, 0, 0},
      {256, 3, 5},
      {320, 3, 6}},
     896,
     896},
};

class PlanTest : public ::testing::TestWithParam<PlanCase> {};

TEST_P(PlanTest, ReachesTheExpectedSize) {
  const PlanCase& c = GetParam();
  COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(c.ranges));
  EXPECT_EQ(plan.arena_size, c.arena_size);
  EXPECT_EQ(plan.lower_bound, c.lower_bound);
  COOPER_EXPECT_OK(CheckMemoryPlan(c.ranges, plan));
}

INSTANTIATE_TEST_SUITE_P(Cases, PlanTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

struct BadCase {
  const char* name;
  LiveRange range;
};

const BadCase kBadCases[] = {
    {"NegativeSize", {-1, 0, 0}},
    {"EndsBeforeItBegins", {1, 2, 1}},
    {"NegativeStep", {1, -1, 1}},
};

class BadRangeTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadRangeTest, NamesTheRange) {
  const std::vector<LiveRange> ranges = {{64, 0, 0}, GetParam().range};
  EXPECT_THAT(PlanMemory(ranges),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("range 1")));
}

INSTANTIATE_TEST_SUITE_P(Cases, BadRangeTest, ::testing::ValuesIn(kBadCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Every pair of ranges, compared one by one: neither the planner's nor the checker's way.
void ExpectDisjoint(const std::vector<LiveRange>& ranges, const MemoryPlan& plan) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_LE(plan.offsets[i] + ranges[i].size, plan.arena_size);
    for (size_t j = i + 1; j < ranges.size(); ++j) {
      const bool together = ranges[i].first <= ranges[j].last && ranges[j].first <= ranges[i].last;
      const bool apart = plan.offsets[i] + ranges[i].size <= plan.offsets[j] ||
                         plan.offsets[j] + ranges[j].size <= plan.offsets[i];
      EXPECT_TRUE(!together || apart || ranges[i].size == 0 || ranges[j].size == 0)
          << "ranges " << i << " and " << j;
    }
  }
}

TEST(PlanMemoryTest, RandomRangesAreDisjointAndNearTheLowerBound) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGenerator random(seed);
    std::vector<LiveRange> ranges(1 + random.NextBelow(60));
    for (LiveRange& r : ranges) {
      r.size = static_cast<int64_t>(random.NextBelow(5000));
      r.first = static_cast<int>(random.NextBelow(40));
      r.last = r.first + static_cast<int>(random.NextBelow(20));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(ranges));
    ExpectDisjoint(ranges, plan);
    COOPER_EXPECT_OK(CheckMemoryPlan(ranges, plan));
    EXPECT_GE(plan.arena_size, plan.lower_bound);
    EXPECT_LE(plan.arena_size, 2 * plan.lower_bound);
    COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan again, PlanMemory(ranges));
    EXPECT_EQ(again.offsets, plan.offsets) << "equal input gives an equal plan";
  }
}

TEST(PlanMemoryTest, ForwardAndBackwardOfAChainReachTheLowerBound) {
  // Activations live until their gradient step, gradients from one step to the next.
  std::vector<LiveRange> ranges;
  constexpr int kSteps = 500;
  for (int t = 0; t < kSteps; ++t) {
    ranges.push_back({4096 + 64 * (t % 7), t, 2 * kSteps - t});
    ranges.push_back({8192, t, t + 1});
    ranges.push_back({4096, 2 * kSteps - t, 2 * kSteps - t + 1});
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(ranges));
  EXPECT_LE(plan.arena_size, plan.lower_bound + plan.lower_bound / 50);
}

TEST(LowerBoundTest, IsTheMostThatIsLiveAtAStep) {
  EXPECT_EQ(LowerBound({}), 0);
  const LiveRange ranges[] = {{.size = 0, .first = 0, .last = 9},
                              {.size = 1, .first = 0, .last = 1},
                              {.size = 64, .first = 1, .last = 1},
                              {.size = 65, .first = 2, .last = 3}};
  EXPECT_EQ(LowerBound(ranges), 128);
}

TEST(CheckMemoryPlanTest, FindsOverlapPlaceAndAlignment) {
  const std::vector<LiveRange> ranges = {{100, 0, 2}, {100, 2, 3}};
  MemoryPlan plan{.offsets = {0, 128}, .arena_size = 256, .lower_bound = 256};
  COOPER_EXPECT_OK(CheckMemoryPlan(ranges, plan));
  plan.offsets = {0, 64};
  EXPECT_THAT(CheckMemoryPlan(ranges, plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("ranges 0 and 1 share memory")));
  plan.offsets = {64, 0};
  EXPECT_THAT(CheckMemoryPlan(ranges, plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("share memory")));
  plan.offsets = {0, 192};
  EXPECT_THAT(CheckMemoryPlan(ranges, plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("in an arena of 256")));
  plan.offsets = {0, 130};
  EXPECT_THAT(CheckMemoryPlan(ranges, plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("offset 130")));
}

}  // namespace
}  // namespace cooper
