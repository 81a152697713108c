#ifndef COOPER_EXECUTOR_PLAN_ARENA_LAYOUT_H_
#define COOPER_EXECUTOR_PLAN_ARENA_LAYOUT_H_

// Where everything that a program computes lies: a memory plan for the arena of each context, with
// the values' buffers and the scratch memory of kernels and of chains of tiles. Offsets and sizes
// are in bytes.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/memory_plan.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/program.h"

namespace cooper {

struct ArenaLayout {
  struct Region {
    std::vector<LiveRange> ranges;
    MemoryPlan plan;
  };
  std::vector<Region> regions;  // by context of the program
  // The range in its context's region of each buffer, and of the scratch memory of each instruction
  // and of each chain of tiles. -1: nothing is placed.
  std::vector<int> range_of_buffer;
  std::vector<int> range_of_instruction;
  std::vector<int> range_of_chain;

  // Offset of a value of `program`; -1 if it is in no arena: the caller's arrays, and what only a
  // chain of tiles uses.
  int64_t OffsetOf(const Program& program, int value) const;
  // Offset of a range of a context; -1 for range -1.
  int64_t OffsetOf(int context, int range) const {
    return range < 0 ? -1 : regions[context].plan.offsets[range];
  }
  int64_t num_ranges() const;
};

// Plans the arenas of a program. `workspace_bytes` has the scratch memory of each instruction. The
// plans are checked (CheckMemoryPlan).
absl::StatusOr<ArenaLayout> LayOutArenas(const Program& program, const TilePlan& tiles,
                                         absl::Span<const int64_t> workspace_bytes);

// Whether a program of the same buffers, instructions and chains, with other sizes, can lie there:
// kInvalidArgument, naming what needs more room, if not.
absl::Status CheckFits(const Program& program, const TilePlan& tiles,
                       absl::Span<const int64_t> workspace_bytes, const ArenaLayout& layout);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_ARENA_LAYOUT_H_
