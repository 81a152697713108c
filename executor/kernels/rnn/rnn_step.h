#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_STEP_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_STEP_H_

// Runs one step and direction of a recurrent layer, forward, with its product, in one launch.
// Requires FusesSteps. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_cells_cuda.h"
#include "executor/kernels/rnn/rnn_mode.h"
#include "executor/kernels/rnn/rnn_step_product.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Adds the product of the step to its slots and runs the cell. Blocks read all of h_prev and write
// parts of h, so the two must not overlap. Blocks are those of LaunchTiles: a block computes a tile
// of rows and units, and the threads with a TileElement run the cell for it. kVector is the number
// of elements that one load takes.
template <RNNMode kMode, int kVector, typename T>
__global__ void RunStep(StepProduct<T> product, CellStep<T> s, CellClip<T> clip) {
  using Element = CellElement<kMode, T>;
  const TileElement at(product.rows, product.units);
  Element element;
  T sums[Element::kRecurrent] = {};
  TileProduct<Element::kRecurrent, kVector>(product, sums, [&] {
    if (at.exists) element.Load(s, at.row, at.unit);
  });
  if (!at.exists) return;
  for (int i = 0; i < Element::kRecurrent; ++i) element.slots[i] += sums[i];
  element.Run(s, clip, at.row, at.unit);
}

// Launches a kernel that adds h_prev times the transpose of `h2h_weight` to the recurrent slots and
// runs the cell. `h2h_weight` is (gates * hidden, hidden) in device memory; the slots must hold the
// input's product. step.h must not overlap step.h_prev. Does not wait.
//
// Errors: those of Launch. Steps of one sequence are launched one after the other on one stream,
// which orders them.
template <typename T>
absl::Status LaunchStep(const KernelContext& c, RNNMode mode, const T* h2h_weight,
                        const CellStep<T>& step, const CellClip<T>& clip) {
  const StepProduct<T> product = {.a = step.h_prev,
                                  .b = h2h_weight,
                                  .a_row = static_cast<int>(step.h_prev_stride),
                                  .rows = static_cast<int>(step.batch),
                                  .units = static_cast<int>(step.hidden),
                                  .depth = static_cast<int>(step.hidden)};
  return DispatchRNNMode(mode, [&](auto kind) {
    return DispatchVector(product, [&](auto vector) {
      return LaunchTiles(c, product, RunStep<decltype(kind)::value, decltype(vector)::value, T>,
                         product, step, clip);
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_STEP_H_
