#include "executor/plan/greedy_plans.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr int64_t k = kArenaAlignment;

struct Case {
  const char* what;
  std::vector<LiveRange> ranges;  // size, first and last step
  std::vector<int64_t> offsets;
  int64_t arena_size;
};

TEST(GreedyPlansTest, ByTimeTakesTheSmallestFreeBlock) {
  const Case cases[] = {
      {"nothing", {}, {}, 0},
      {"one after the other", {{k, 0, 0}, {k, 1, 1}}, {0, 0}, k},
      {"at the same time", {{k, 0, 1}, {k, 1, 1}}, {0, k}, 2 * k},
      {"the larger one first", {{k, 0, 0}, {3 * k, 0, 0}}, {3 * k, 0}, 4 * k},
      {"no bytes", {{0, 0, 1}, {k, 0, 1}}, {0, 0}, k},
      {"sizes are rounded, but for the end", {{1, 0, 1}, {8, 1, 1}}, {0, k}, k + 8},
      // Blocks of 3k and k become free. The block of k fits better, although it lies behind.
      {"the best fit",
       {{3 * k, 0, 0}, {2 * k, 0, 2}, {k, 0, 0}, {k, 1, 2}},
       {0, 3 * k, 5 * k, 5 * k},
       6 * k},
      // Neighbours that have become free are one block.
      {"merged blocks", {{k, 0, 0}, {k, 0, 0}, {k, 0, 1}, {2 * k, 1, 1}}, {0, k, 2 * k, 0}, 3 * k},
      {"a free block at the end grows",
       {{2 * k, 0, 1}, {k, 0, 0}, {3 * k, 1, 1}},
       {0, 2 * k, 2 * k},
       5 * k},
  };
  for (const Case& c : cases) {
    const GreedyPlan plan = PlaceByTime(c.ranges, /*backwards=*/false);
    EXPECT_THAT(plan.offsets, ElementsAreArray(c.offsets)) << c.what;
    EXPECT_EQ(plan.arena_size, c.arena_size) << c.what;
  }
}

TEST(GreedyPlansTest, BackwardsIsTheMirroredProblem) {
  const std::vector<LiveRange> ranges = {{k, 0, 2}, {2 * k, 1, 3}, {k, 3, 4}, {3 * k, 4, 5}};
  std::vector<LiveRange> mirrored = ranges;
  for (LiveRange& r : mirrored) r = {r.size, 5 - r.last, 5 - r.first};
  const GreedyPlan plan = PlaceByTime(ranges, /*backwards=*/true);
  EXPECT_EQ(plan.offsets, PlaceByTime(mirrored, /*backwards=*/false).offsets);
  EXPECT_NE(plan.offsets, PlaceByTime(ranges, /*backwards=*/false).offsets);
}

TEST(GreedyPlansTest, InOrderTakesTheSmallestGap) {
  // A gap of 2k between ranges 0 and 1 while range 2 is dead, and all above.
  const std::vector<LiveRange> ranges = {{k, 0, 3},    {2 * k, 0, 1}, {k, 0, 3},
                                         {k, 2, 3, 4}, {8, 2, 3, 8},  {0, 0, 3}};
  const GreedyPlan plan = PlaceInOrder(ranges, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(plan.offsets, ElementsAre(0, k, 3 * k, k, 2 * k, 0));
  EXPECT_EQ(plan.arena_size, 4 * k);
  EXPECT_EQ(PlaceInOrder(ranges, {2, 1, 0, 3, 4, 5}).offsets[2], 0);
}

TEST(GreedyPlansTest, Orders) {
  const std::vector<LiveRange> ranges = {{1, 0, 0}, {4, 0, 1}, {2, 1, 2}, {9, 3, 3}, {2, 2, 2}};
  EXPECT_THAT(OrderBy(ranges, [](const LiveRange& r) { return r.size; }),
              ElementsAre(3, 1, 2, 4, 0));
  EXPECT_THAT(OrderBy(ranges, [](const LiveRange& r) { return int64_t{r.last - r.first}; }),
              ElementsAre(1, 2, 0, 3, 4))
      << "equal weights keep their order";
  // Bytes of the steps: 5, 6, 4, 9.
  EXPECT_THAT(OrderByBreadth(ranges), ElementsAre(3, 1, 2, 0, 4));
  EXPECT_TRUE(OrderByBreadth({}).empty());
}

}  // namespace
}  // namespace cooper
