#ifndef COOPER_EXECUTOR_PLAN_MEMORY_PLAN_H_
#define COOPER_EXECUTOR_PLAN_MEMORY_PLAN_H_

// Gives each value of a bound graph an offset in one shared arena.
//
// A plan is pure data: it allocates nothing and knows no device. Executor turns it into views
// (executor.h); buckets bound with one shared arena need as much as the largest plan. Sizes and
// offsets are in bytes. Steps are positions in the execution order.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

// Every offset is a multiple of this, and every size is rounded up to one.
inline constexpr int64_t kArenaAlignment = 64;

// One value's claim: `size` bytes over the steps [first, last], both included.
struct LiveRange {
  int64_t size = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // offsets[i] places ranges[i]
  int64_t arena_size = 0;        // what to allocate
  int64_t lower_bound = 0;       // LowerBound(ranges)
};

// The largest total of rounded sizes that are live at one step: no plan needs less. Of ranges that
// PlanMemory accepts.
int64_t LowerBound(absl::Span<const LiveRange> ranges);

// Returns a plan in which ranges that are live together do not overlap. Equal input gives an equal
// plan. Tries several placement orders and keeps the best; stops at the first that reaches the
// lower bound, or, of the slower ones, comes within a thousandth of it. The ways of placing: in
// order of time with best fit, and into the smallest gap in several orders (Pisarchyk and Lee,
// arXiv 2001.03288, "greedy by breadth", "greedy by size").
//
// Fails with kInvalidArgument, naming the index, if a size is negative or last < first or first <
// 0.
absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const LiveRange> ranges);

// Checks a plan without sharing code with the planner: kInternal, naming two ranges, if they
// overlap in time and place, lie outside the arena, or an offset is not aligned.
absl::Status CheckMemoryPlan(absl::Span<const LiveRange> ranges, const MemoryPlan& plan);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_MEMORY_PLAN_H_
