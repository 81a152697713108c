#ifndef COOPER_EXECUTOR_PLAN_GREEDY_PLANS_H_
#define COOPER_EXECUTOR_PLAN_GREEDY_PLANS_H_

// The quick half of the memory planner: ways to place ranges one after the other that never take a
// choice back. Which of them is good depends on the graph: PlanMemory tries them in turn.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/live_range.h"

namespace cooper {

// Where each range begins, and where the last of them ends.
struct GreedyPlan {
  std::vector<int64_t> offsets;
  int64_t arena_size = 0;
};

// Places ranges as they begin, larger ones of a step first, each into the smallest free block that
// fits, and frees them as they end. Backwards in time it is the same problem, with other choices.
// Counts with sizes and offsets that are multiples of kArenaAlignment, whatever the ranges ask for.
// O(n log n).
GreedyPlan PlaceByTime(absl::Span<const LiveRange> ranges, bool backwards);

// Places ranges in the given order, which has each once, each into the smallest gap between those
// already placed that are live at the same time. O(n^2), with a small factor.
GreedyPlan PlaceInOrder(absl::Span<const LiveRange> ranges, const std::vector<int>& order);

// Orders for PlaceInOrder. The ranges of the step at which most is live, then those of the next
// one, and so on; those of a step by falling size (Pisarchyk and Lee, arXiv 2001.03288, "greedy by
// breadth"). O(n log n).
std::vector<int> OrderByBreadth(absl::Span<const LiveRange> ranges);
// By falling weight ("greedy by size", with other weights too).
std::vector<int> OrderBy(absl::Span<const LiveRange> ranges, int64_t (*weight)(const LiveRange&));

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_GREEDY_PLANS_H_
