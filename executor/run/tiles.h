#ifndef COOPER_EXECUTOR_RUN_TILES_H_
#define COOPER_EXECUTOR_RUN_TILES_H_

// Runs a chain of element-wise kernels tile by tile: all of them on some thousand elements, which
// stay in cache, before the next ones. Values that only the chain uses exist as tiles only.

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/kernel.h"

namespace cooper {

// One kernel of a chain.
struct TiledStep {
  // The kernel's context for the whole arrays; not owned. Data pointers may change between runs.
  const KernelContext* context = nullptr;
  // By input, and by output: the slot of its tile in the workspace; -1 for a whole array.
  std::vector<int> input_slots;
  std::vector<int> output_slots;
};

// Calls run(step, context) for each step of `steps`, tile after tile, with a context whose arrays
// are one tile, of shape (count,). The parts of the chain run on several threads. `workspace` has
// chain.workspace_bytes(). Allocates nothing. Returns the first error of a part. `run` must be
// thread-safe for different tiles.
absl::Status RunTiles(
    const TileChain& chain, absl::Span<const TiledStep> steps, void* workspace,
    absl::FunctionRef<absl::Status(size_t step, const KernelContext& context)> run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_TILES_H_
