#include "executor/plan/packing_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "executor/plan/live_range.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr int64_t kForever = int64_t{1} << 40;

bool LiveTogether(const LiveRange& a, const LiveRange& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Returns the smallest arena, found by trying all orders of placing each range on top of the placed
// ones. For few ranges only.
int64_t SmallestArena(const std::vector<LiveRange>& ranges) {
  std::vector<int> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t smallest = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> tops(ranges.size());
    int64_t arena = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const LiveRange& r = ranges[order[k]];
      int64_t offset = 0;
      for (size_t i = 0; i < k; ++i) {
        if (LiveTogether(r, ranges[order[i]])) offset = std::max(offset, tops[order[i]]);
      }
      tops[order[k]] = (offset + r.alignment - 1) / r.alignment * r.alignment + r.size;
      arena = std::max(arena, tops[order[k]]);
    }
    smallest = std::min(smallest, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return smallest;
}

void ExpectIsPlan(const std::vector<LiveRange>& ranges, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), ranges.size());
  int64_t end = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(packing.offsets[i] % ranges[i].alignment, 0);
    EXPECT_GE(packing.offsets[i], 0);
    end = std::max(end, packing.offsets[i] + ranges[i].size);
    for (size_t j = 0; j < i; ++j) {
      EXPECT_TRUE(!LiveTogether(ranges[i], ranges[j]) ||
                  packing.offsets[i] + ranges[i].size <= packing.offsets[j] ||
                  packing.offsets[j] + ranges[j].size <= packing.offsets[i])
          << "ranges " << j << " and " << i;
    }
  }
  EXPECT_EQ(packing.arena_size, end);
}

TEST(PackingSearchTest, NothingNeedsNothing) {
  const Packing packing = PackingProblem({}).Search({.max_work = 1});
  EXPECT_EQ(packing.arena_size, 0);
  EXPECT_EQ(packing.lower_bound, 0) << "the search has found the empty plan";
}

TEST(PackingSearchTest, RangesWithoutBytesAreNowhere) {
  const std::vector<LiveRange> ranges = {{0, 0, 3}, {64, 1, 2}, {0, 2, 2}};
  ExpectIsPlan(ranges, PackingProblem(ranges).Search({.capacity = 64, .max_work = kForever}));
}

TEST(PackingSearchTest, SectionsAreStepsThatHoldWhatTheirNeighboursDoNot) {
  // Steps 0 and 3 have fewer live ranges than their neighbours 1 and 4; step 2 has as many as step
  // 1.
  const std::vector<LiveRange> ranges = {{1, 0, 2}, {1, 1, 4}, {1, 4, 5}};
  const PackingProblem problem(ranges);
  EXPECT_EQ(problem.num_sections(), 2);
  EXPECT_EQ(problem.items()[1].begin, 0);
  EXPECT_EQ(problem.items()[1].end, 2);
  EXPECT_EQ(problem.items()[2].begin, 1);
}

// Raises the capacity to the proven lower bound until there is a plan.
Packing Smallest(const std::vector<LiveRange>& ranges, int order) {
  const PackingProblem problem(ranges);
  for (int64_t capacity = 0;;) {
    Packing packing = problem.Search({.capacity = capacity, .max_work = kForever, .order = order});
    if (!packing.offsets.empty()) return packing;
    EXPECT_GT(packing.lower_bound, capacity);
    capacity = std::max(capacity + 1, packing.lower_bound);
  }
}

TEST(PackingSearchTest, IsExact) {
  int above_bound = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGenerator random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random.NextBelow(n)); };
    std::vector<LiveRange> ranges(2 + below(6));
    for (LiveRange& r : ranges) {
      r.first = static_cast<int>(below(8));
      r.last = r.first + static_cast<int>(below(5));
      r.size = 1 + below(12);
      r.alignment = seed % 3 == 0 ? 1 : int64_t{1} << below(4);
    }
    const int64_t smallest = SmallestArena(ranges);
    int64_t bound = 0;
    for (int step = 0; step < 13; ++step) {
      int64_t live = 0;
      for (const LiveRange& r : ranges) live += r.first <= step && step <= r.last ? r.size : 0;
      bound = std::max(bound, live);
    }
    above_bound += smallest > bound ? 1 : 0;
    for (int order = 0; order < kNumPackingOrders + 2; ++order) {
      const Packing packing = Smallest(ranges, order);
      ExpectIsPlan(ranges, packing);
      EXPECT_EQ(packing.arena_size, smallest) << "order " << order;
    }
  }
  EXPECT_GT(above_bound, 30) << "proofs too are tested";
}

TEST(PackingSearchTest, GivesUpWithoutAProof) {
  std::vector<LiveRange> ranges;
  ranges.reserve(40);
  for (int i = 0; i < 40; ++i) ranges.push_back({7 + i % 5, i % 11, i % 11 + i % 4, 1});
  const PackingProblem problem(ranges);
  const Packing packing = problem.Search({.capacity = 1000, .max_work = 100});
  EXPECT_TRUE(packing.offsets.empty());
  EXPECT_EQ(packing.lower_bound, 0);
  const Packing enough = problem.Search({.capacity = 1000, .max_work = 2 * problem.DescentWork()});
  ExpectIsPlan(ranges, enough);
  EXPECT_LE(enough.work, 2 * problem.DescentWork());
}

TEST(PackingSearchTest, EqualInputGivesAnEqualPlan) {
  std::vector<LiveRange> ranges;
  ranges.reserve(60);
  for (int i = 0; i < 60; ++i) ranges.push_back({64 * (7 + i % 5), i, i + i % 7});
  const PackingProblem problem(ranges);
  const PackingOptions options{.capacity = 64 * 60, .max_work = 1'000'000, .order = 1};
  EXPECT_EQ(problem.Search(options).offsets, problem.Search(options).offsets);
  EXPECT_EQ(problem.Search(options).work, problem.Search(options).work);
}

}  // namespace
}  // namespace cooper
