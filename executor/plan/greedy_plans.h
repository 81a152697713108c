#ifndef COOPER_EXECUTOR_PLAN_GREEDY_PLANS_H_
#define COOPER_EXECUTOR_PLAN_GREEDY_PLANS_H_

// The greedy half of the memory planner: heuristics that place ranges one after the other and never
// revise a choice. Which one is good depends on the graph, so PlanMemory tries them in turn.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/live_range.h"

namespace cooper {

// A plan: the offset of each range, and the size of the arena in bytes.
struct GreedyPlan {
  std::vector<int64_t> offsets;
  int64_t arena_size = 0;
};

// Places ranges in the order of their first steps, larger ones of a step first, each into the
// smallest free block that fits, and frees them after their last steps. With `backwards` it
// processes time in reverse, which makes other choices. Computes with sizes and offsets that are
// multiples of kArenaAlignment, whatever alignment the ranges need. O(n log n) time.
GreedyPlan PlaceByTime(absl::Span<const LiveRange> ranges, bool backwards);

// Places ranges in the given order, a permutation of their indices, each into the smallest gap
// between the placed ranges that are live at the same time. O(n^2) time, with a small factor.
GreedyPlan PlaceInOrder(absl::Span<const LiveRange> ranges, const std::vector<int>& order);

// Returns an order for PlaceInOrder: the ranges of the step with the most live bytes, then those of
// the next fullest step, and so on; ranges of one step by falling size (Pisarchyk and Lee, arXiv
// 2001.03288, "greedy by breadth"). O(n log n) time.
std::vector<int> OrderByBreadth(absl::Span<const LiveRange> ranges);
// Returns the order of falling weight ("greedy by size", or by another weight).
std::vector<int> OrderBy(absl::Span<const LiveRange> ranges, int64_t (*weight)(const LiveRange&));

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_GREEDY_PLANS_H_
