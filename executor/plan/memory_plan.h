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

// How memory of so many bytes is to be aligned whose largest elements have `element_bytes`, which
// is a power of 2 up to kArenaAlignment: to 64 bytes from 4 KB on, so that no vector of a large
// array lies across two cache lines; less than that to at most a 64th of its size, so that the
// bytes that stay idle before it are no part to speak of; but always to its elements. Sizes are not
// rounded: a scalar takes its own bytes. No kernel needs more, since arguments may be slices of
// other arrays; and as instructions run one after the other, no two threads write to what shares a
// cache line but to parts of one value.
int64_t PlannedAlignment(int64_t bytes, int64_t element_bytes);
// For memory that may hold elements of any type: kernels' workspaces.
inline constexpr int64_t kLargestElement = 16;

struct MemoryPlan {
  std::vector<int64_t> offsets;  // offsets[i] places ranges[i]
  int64_t arena_size = 0;        // what to allocate
  int64_t lower_bound = 0;       // LowerBound(ranges)
  // No plan is smaller, of these ranges and alignments. Not set: perhaps there is one.
  bool proven = false;
};

// The largest total of sizes that are live at one step: no plan needs less. Of ranges that
// PlanMemory accepts.
int64_t LowerBound(absl::Span<const LiveRange> ranges);

// Returns a plan in which ranges that are live together do not overlap. Equal input gives an equal
// plan. Places ranges in several orders (greedy_plans.h) and keeps the best; stops at the first
// that comes within a thousandth of the lower bound. If none does, searches for a plan within 2
// percent of the bound or the proof that there is none (packing_search.h); for programs of some 200
// ranges it nearly always ends with one of them. For a thousandth it looks further as long as that
// takes little beside binding.
//
// Fails with kInvalidArgument, naming the index, if a size is negative, last < first, first < 0 or
// the alignment is no power of 2 up to kArenaAlignment.
absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const LiveRange> ranges);

// Checks a plan without sharing code with the planner: kInternal, naming two ranges, if they
// overlap in time and place, lie outside the arena, or an offset is not aligned.
absl::Status CheckMemoryPlan(absl::Span<const LiveRange> ranges, const MemoryPlan& plan);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_MEMORY_PLAN_H_
