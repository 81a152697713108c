#ifndef COOPER_EXECUTOR_PLAN_LIVE_BUFFERS_H_
#define COOPER_EXECUTOR_PLAN_LIVE_BUFFERS_H_

// Finds the steps over which a program uses each of its buffers: the input of the memory planner.

#include <vector>

#include "executor/plan/memory_plan.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/program.h"

namespace cooper {

// The live ranges of a program's buffers.
struct LiveBuffers {
  std::vector<std::vector<LiveRange>> ranges;  // the ranges in the arena of each context
  // By buffer: its index among the ranges of its context; -1 if it is in no arena or never used.
  std::vector<int> range_of_buffer;
};

// Returns the live ranges of the buffers. A step is the position of an instruction. Outputs are
// live until one step after the last. With `tiles`, which may be null, a chain uses all its arrays
// from its first step to its last, and buffers that have a slot in the chain are in no arena.
// O(instructions + their inputs and outputs) time.
LiveBuffers FindLiveBuffers(const Program& program, const TilePlan* tiles);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_LIVE_BUFFERS_H_
