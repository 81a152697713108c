#ifndef COOPER_EXECUTOR_PLAN_TILE_PLAN_H_
#define COOPER_EXECUTOR_PLAN_TILE_PLAN_H_

// Decides how chains of element-wise instructions, found by the pass "tiles", run: the parts and
// tiles of each chain, and which values need only a tile of memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/program/program.h"

namespace cooper {

// Maximal number of inputs, and of outputs, of a kernel in a chain.
inline constexpr size_t kMaxTiledArrays = 16;

// A chain of element-wise instructions that run together, tile by tile.
struct TileChain {
  // Instructions [begin, end), of which those in `steps` run.
  int begin = 0;
  int end = 0;
  std::vector<int> steps;
  int64_t elements = 0;  // of every array
  // The arrays are split into `parts` of similar size, one for each thread, and these into tiles.
  int parts = 1;
  int64_t tile_elements = 0;  // at most
  // Values that only the chain uses live in slots of the size of a tile. Each part has `slots`
  // slots of its own; a slot serves several values, one after the other.
  int slots = 0;
  int64_t slot_bytes = 0;

  // Returns the scratch bytes of the chain: the slots of all parts.
  int64_t workspace_bytes() const { return int64_t{parts} * slots * slot_bytes; }
  // Returns the first element of a part; PartBegin(parts) is `elements`.
  int64_t PartBegin(int part) const;
};

// The chains of a program.
struct TilePlan {
  std::vector<TileChain> chains;  // by Instruction::tiles
  // By buffer: its slot in the chain that uses it; -1 for buffers in the arena and the caller's
  // arrays.
  std::vector<int> slot_of_buffer;
};

// Plans the chains of `program` for at most `threads` threads. With `larger`, the plan of the same
// program for larger arrays, no tile is longer than in that plan, so that the scratch memory
// planned for it suffices.
TilePlan PlanTiles(const Program& program, int threads, const TilePlan* larger = nullptr);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_TILE_PLAN_H_
