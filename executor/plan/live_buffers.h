#ifndef COOPER_EXECUTOR_PLAN_LIVE_BUFFERS_H_
#define COOPER_EXECUTOR_PLAN_LIVE_BUFFERS_H_

// From which step to which a program uses its buffers: what its memory is planned by.

#include <vector>

#include "executor/plan/memory_plan.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/program.h"

namespace cooper {

struct LiveBuffers {
  std::vector<std::vector<LiveRange>> ranges;  // those in the arena of each context
  // By buffer: its range among those of its context; -1 if it is in no arena, or never used.
  std::vector<int> range_of_buffer;
};

// A step is an instruction's position. Outputs are in use until one step after the last. With
// `tiles`, which may be null, a chain uses all its arrays from its first step to its last, and what
// has a slot in it is in no arena.
LiveBuffers FindLiveBuffers(const Program& program, const TilePlan* tiles);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_LIVE_BUFFERS_H_
