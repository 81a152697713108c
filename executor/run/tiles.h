#ifndef COOPER_EXECUTOR_RUN_TILES_H_
#define COOPER_EXECUTOR_RUN_TILES_H_

// Runs a chain of element-wise kernels tile by tile: all of them on some thousand elements, which
// stay in cache, before the next ones. Values that only the chain uses are never whole.

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/kernel.h"

namespace cooper {

struct TiledStep {
  // The kernel's context for the whole arrays; not owned. Data pointers may change between runs.
  const KernelContext* context = nullptr;
  // By input and output: its slot, or -1 for an array.
  std::vector<int> input_slots;
  std::vector<int> output_slots;
};

// Runs, tile after tile, what `run` makes of each step (its position in `steps`, and a context
// whose arrays are a tile, of shape (count,)), the parts of the chain on several threads.
// `workspace` has chain.workspace_bytes(). Allocates nothing. The first error that a part meets.
absl::Status RunTiles(
    const TileChain& chain, absl::Span<const TiledStep> steps, void* workspace,
    absl::FunctionRef<absl::Status(size_t step, const KernelContext& context)> run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_TILES_H_
