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
#include "executor/plan/live_range.h"

namespace cooper {

// Returns the alignment of `bytes` of memory whose largest elements have `element_bytes`, a power
// of 2 up to kArenaAlignment. The result is kArenaAlignment from 4 KB on, so that no vector of a
// large array crosses a cache line. Smaller memory is aligned to the largest power of 2 up to bytes
// / 64, so padding stays below 2 %, but at least to `element_bytes`. Sizes are not rounded up: a
// scalar takes its own bytes. No kernel needs more, since arguments may be slices of other arrays.
// Instructions run one after the other, so two threads that write to one cache line write parts of
// one value.
int64_t PlannedAlignment(int64_t bytes, int64_t element_bytes);
// Element size that suits elements of any type: for the workspaces of kernels.
inline constexpr int64_t kLargestElement = 16;

// The result of PlanMemory. A pure value: it owns no memory.
struct MemoryPlan {
  std::vector<int64_t> offsets;  // offsets[i] places ranges[i]
  int64_t arena_size = 0;        // bytes to allocate
  int64_t lower_bound = 0;       // LowerBound(ranges)
  // Whether it is proven that no smaller plan exists for these ranges and alignments.
  bool proven = false;
};

// Returns the largest total of sizes that are live at one step: no plan needs less. The ranges must
// be valid for PlanMemory.
int64_t LowerBound(absl::Span<const LiveRange> ranges);

// Returns a plan in which ranges that are live together do not overlap. Equal input gives an equal
// plan. Places ranges in several orders (greedy_plans.h) and keeps the best; stops at the first
// plan within a thousandth of the lower bound. If no order gives one, searches for a plan within 2
// percent of the bound or for the proof that there is none (packing_search.h); programs of some 200
// ranges nearly always end with one of the two. The search for the last thousandth goes on only
// while it is cheap compared with binding. Thread-safe.
//
// Fails with kInvalidArgument, naming the index, if a size is negative, last < first, first < 0 or
// the alignment is no power of 2 up to kArenaAlignment.
absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const LiveRange> ranges);

// Checks a plan without sharing code with the planner: kInternal, naming two ranges, if they
// overlap in time and place, lie outside the arena, or an offset is not aligned.
absl::Status CheckMemoryPlan(absl::Span<const LiveRange> ranges, const MemoryPlan& plan);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_MEMORY_PLAN_H_
