#include "executor/plan/memory_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct PlanCase {
  const char* name;
  std::vector<LiveRange> ranges;
  int64_t arena_size;
  int64_t lower_bound;
};

// Sizes in bytes; offsets are multiples of 64 where no other alignment is given. All are proven.
const PlanCase kCases[] = {
    {"Empty", {}, 0, 0},
    {"NoBytes", {{0, 0, 5}}, 0, 0},
    {"OneIsNotRounded", {{1, 0, 0}}, 1, 1},
    {"OnlyOffsetsAreAligned", {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, 129, 3},
    {"TinyOnesArePacked", {{4, 0, 0, 4}, {8, 0, 0, 8}, {4, 0, 0, 4}, {100, 0, 0}}, 116, 116},
    {"BehindWhatIsNoMultiple", {{100, 0, 0}, {4, 0, 0, 4}, {64, 0, 1}}, 168, 168},
    {"ReusesAfterTheLastStep", {{128, 0, 1}, {128, 2, 3}}, 128, 128},
    {"TheLastStepIsIncluded", {{128, 0, 2}, {128, 2, 3}}, 256, 256},
    {"TwoSmallFitWhereOneLargeWas", {{256, 0, 0}, {128, 1, 1}, {128, 1, 1}}, 256, 256},
    {"LargeTakesMergedNeighbours", {{64, 0, 0}, {64, 0, 0}, {128, 1, 1}}, 128, 128},
    {"Pyramid", {{64, 0, 6}, {64, 1, 5}, {64, 2, 4}}, 192, 192},
    // Only the order by breadth finds this plan.
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
  EXPECT_TRUE(plan.proven);
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
    {"NoAlignment", {1, 0, 1, 0}},
    {"NegativeAlignment", {1, 0, 1, -4}},
    {"NoPowerOf2", {1, 0, 1, 24}},
    {"MoreThanTheArenaHas", {1, 0, 1, 128}},
};

class BadRangeTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadRangeTest, NamesTheRange) {
  const std::vector<LiveRange> ranges = {{64, 0, 0}, GetParam().range};
  EXPECT_THAT(PlanMemory(ranges),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("range 1")));
}

INSTANTIATE_TEST_SUITE_P(Cases, BadRangeTest, ::testing::ValuesIn(kBadCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Compares every pair of ranges, independently of the planner and of the checker.
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

// Returns the ranges of a network whose values live until their gradients are computed, and
// gradients until those of the layer below are. Some layers have scratch memory and some values
// skip layers. Sizes fall and sometimes grow, as those of convolutions and pooling do.
std::vector<LiveRange> RandomTraining(uint64_t seed) {
  RandomGenerator random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.NextBelow(n)); };
  std::vector<LiveRange> ranges;
  const int n = static_cast<int>(8 + below(seed % 4 == 0 ? 60 : 12));  // layers
  int64_t size = 64 * (1000 + below(20000));
  for (int i = 0; i < n; ++i) {
    const int gradient = 2 * n - i;  // its step
    ranges.push_back({size, i, gradient - 1});
    ranges.push_back({size, gradient - 1, gradient + 1});
    if (below(3) == 0) {
      const int64_t scratch = size * (1 + below(300)) / 100;
      ranges.push_back({scratch, i, i});
      ranges.push_back({scratch, gradient, gradient});
    }
    if (below(4) == 0) {
      ranges.push_back(
          {4 + 4 * below(size / 4), i, static_cast<int>(i + 1 + below(2 * n - 2 * i))});
    }
    if (below(3) == 0) size = 4 + size * (20 + below(90)) / 400 * 4;
  }
  return ranges;
}

TEST(PlanMemoryTest, TrainingIsWithinTwoPercentOfTheBoundOrProven) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::vector<LiveRange> ranges = RandomTraining(seed);
    COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(ranges));
    COOPER_EXPECT_OK(CheckMemoryPlan(ranges, plan));
    EXPECT_TRUE(plan.proven || plan.arena_size <= plan.lower_bound * 102 / 100)
        << ranges.size() << " ranges: " << plan.arena_size << " bytes, bound " << plan.lower_bound;
  }
}

TEST(PlannedAlignmentTest, LargeValuesAreAlignedToCacheLines) {
  struct Case {
    int64_t bytes, element_bytes, alignment;
  };
  for (const Case& c :
       {Case{0, 4, 4}, Case{4, 4, 4}, Case{1, 1, 1}, Case{12, 4, 4}, Case{64, 4, 4}, Case{64, 8, 8},
        Case{255, 1, 2}, Case{512, 4, 8}, Case{1023, 4, 8}, Case{1024, 4, 16}, Case{4095, 1, 32},
        Case{4096, 1, 64}, Case{int64_t{1} << 40, 8, 64}}) {
    EXPECT_EQ(PlannedAlignment(c.bytes, c.element_bytes), c.alignment)
        << c.bytes << " bytes in elements of " << c.element_bytes;
  }
}

TEST(LowerBoundTest, IsTheMostThatIsLiveAtAStep) {
  EXPECT_EQ(LowerBound({}), 0);
  const LiveRange ranges[] = {{.size = 0, .first = 0, .last = 9},
                              {.size = 1, .first = 0, .last = 1},
                              {.size = 64, .first = 1, .last = 1},
                              {.size = 65, .first = 2, .last = 3}};
  EXPECT_EQ(LowerBound(ranges), 65);
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
