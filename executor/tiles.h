#ifndef COOPER_EXECUTOR_TILES_H_
#define COOPER_EXECUTOR_TILES_H_

// Runs a chain of element-wise kernels tile by tile: all of them on some thousand elements, which
// stay in cache, before the next ones. Values that only the chain uses are never whole: a thread
// has a tile of each in memory of its own.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernel.h"

namespace cooper {

inline constexpr int64_t kTileElements = 2048;
// Tiles that a thread has for values of the chain, 8 bytes an element.
inline constexpr int kTileSlots = 8;
// Inputs, and outputs, that a kernel in a chain may have.
inline constexpr size_t kMaxTiledArrays = 16;

struct TiledStep {
  // Of the whole arrays; not owned. Data pointers may change between runs.
  const KernelContext* context = nullptr;
  // By input and output: which of the thread's tiles it is, or -1 for an array.
  std::vector<int> input_slots;
  std::vector<int> output_slots;
};

// Runs step by step what `run` makes of each (its position in `steps`, and a context whose arrays
// are one tile of shape (count,)), for tiles that cover the `elements` of every array, on several
// threads. The first error that one of them meets.
absl::Status RunTiles(
    absl::Span<const TiledStep> steps, int64_t elements,
    absl::FunctionRef<absl::Status(size_t step, const KernelContext& context)> run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_TILES_H_
