#ifndef COOPER_EXECUTOR_PLAN_TILE_PLAN_H_
#define COOPER_EXECUTOR_PLAN_TILE_PLAN_H_

// How the chains of element-wise instructions that the pass "tiles" has marked are run: in which
// parts and tiles, and which values need no more memory than a tile.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/program/program.h"

namespace cooper {

// Inputs, and outputs, that a kernel in a chain may have.
inline constexpr size_t kMaxTiledArrays = 16;

struct TileChain {
  // Instructions [begin, end), of which those in `steps` run.
  int begin = 0;
  int end = 0;
  std::vector<int> steps;
  int64_t elements = 0;  // of every array
  // The arrays are cut into so many parts, for one thread each, and these into tiles.
  int parts = 1;
  int64_t tile_elements = 0;  // at most
  // Values that only the chain uses have a slot of the size of a tile, a slot of its own in each
  // part; one serves several values, one after the other.
  int slots = 0;
  int64_t slot_bytes = 0;

  int64_t workspace_bytes() const { return parts * slots * slot_bytes; }
  // The first element of a part; that of part `parts` is `elements`.
  int64_t PartBegin(int part) const;
};

struct TilePlan {
  std::vector<TileChain> chains;  // by Instruction::tiles
  // By buffer: its slot in the chain that uses it; -1 for arrays.
  std::vector<int> slot_of_buffer;
};

// For at most `threads` threads. With `larger`, the plan of the same program for larger arrays, no
// tile is longer than there, so that scratch memory that was planned for it is enough.
TilePlan PlanTiles(const Program& program, int threads, const TilePlan* larger = nullptr);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_TILE_PLAN_H_
