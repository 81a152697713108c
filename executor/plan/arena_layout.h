#ifndef COOPER_EXECUTOR_PLAN_ARENA_LAYOUT_H_
#define COOPER_EXECUTOR_PLAN_ARENA_LAYOUT_H_

// Lays out the memory of a program: plans the arena of each context, in which the buffers of values
// and the scratch memory of kernels and of tile chains get offsets. Offsets and sizes are in bytes.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/memory_plan.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/program.h"

namespace cooper {

// The memory plans of a program. A pure value: it owns no memory.
struct ArenaLayout {
  // The arena of one context: its ranges, and the offset of each.
  struct Region {
    std::vector<LiveRange> ranges;
    MemoryPlan plan;
  };
  std::vector<Region> regions;  // by context of the program
  // Index of the range in its context's region, for each buffer, each instruction's scratch memory
  // and each chain's scratch memory. -1: no memory is placed.
  std::vector<int> range_of_buffer;
  std::vector<int> range_of_instruction;
  std::vector<int> range_of_chain;

  // Returns the offset of a value of `program`; -1 if the value is in no arena: the caller's
  // arrays, and values that only a chain of tiles uses.
  int64_t OffsetOf(const Program& program, int value) const;
  // Returns the offset of a range of a context; -1 for range -1.
  int64_t OffsetOf(int context, int range) const {
    return range < 0 ? -1 : regions[context].plan.offsets[range];
  }
  // Returns the number of ranges in all regions.
  int64_t num_ranges() const;
};

// Plans the arenas of a program. `workspace_bytes` has the scratch bytes of each instruction. Equal
// input gives an equal layout. Thread-safe. The plans are verified with CheckMemoryPlan. Errors:
// kInternal if a plan has overlapping ranges, which is a bug of the planner.
absl::StatusOr<ArenaLayout> LayOutArenas(const Program& program, const TilePlan& tiles,
                                         absl::Span<const int64_t> workspace_bytes);

// Checks that a program with the same buffers, instructions and chains, but other sizes, fits into
// `layout`. Fails with kInvalidArgument, naming what needs more room. A smaller batch of the same
// network then reuses the layout without planning.
absl::Status CheckFits(const Program& program, const TilePlan& tiles,
                       absl::Span<const int64_t> workspace_bytes, const ArenaLayout& layout);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_ARENA_LAYOUT_H_
