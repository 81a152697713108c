#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_STEP_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_STEP_H_

// Runs the gradient of one step and direction of a recurrent layer, together with the product of
// the later step, in one launch. Requires FusesSteps. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_gradient_cells.h"
#include "executor/kernels/rnn/rnn_mode.h"
#include "executor/kernels/rnn/rnn_step_product.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The gradients of the later step, which was processed before this one. dh receives their product
// with the h2h weight. "Later" is in the order of the forward pass. Device memory, not owned.
template <typename T>
struct LaterGradients {
  const T* ds;  // gradients of its slots, whose rows are slot_row apart; must not alias this step's
  const T* transposed;  // h2h weight transposed: (hidden, depth)
  int64_t slot_row;
  int64_t depth;  // recurrent slots * hidden
};

// Adds the product of the later step to dh and runs the cell's gradient. Blocks read all gradients
// of the later step, but of dh and dc only the elements that they write. kVector is the number of
// elements that one load takes.
template <RNNMode kMode, int kVector, typename T>
__global__ void RunGradientStep(StepProduct<T> product, GradientStep<T> s, CellClip<T> clip) {
  const TileElement at(product.rows, product.units);
  GradientElement<kMode, T> element;
  T sum[1] = {};
  TileProduct<1, kVector>(product, sum, [&] {
    if (at.exists) element.Load(s, at.row, at.unit);
  });
  if (!at.exists) return;
  element.dh += sum[0];
  element.Run(s, clip, at.row, at.unit);
}

// Launches a kernel that adds the later step's ds times the h2h weight to dh, and then computes the
// gradient of the cell. It runs all steps but the one processed first, which has no later step and
// uses LaunchCellGradients. Does not wait.
//
// Errors: those of Launch. One launch replaces a product by cuBLAS and a cell, which pays for small
// batches only: FusesSteps says when.
template <typename T>
absl::Status LaunchGradientStep(const KernelContext& c, RNNMode mode,
                                const LaterGradients<T>& later, const GradientStep<T>& step,
                                const CellClip<T>& clip) {
  const StepProduct<T> product = {.a = later.ds,
                                  .b = later.transposed,
                                  .a_row = static_cast<int>(later.slot_row),
                                  .rows = static_cast<int>(step.batch),
                                  .units = static_cast<int>(step.hidden),
                                  .depth = static_cast<int>(later.depth)};
  return DispatchRNNMode(mode, [&](auto kind) {
    return DispatchVector(product, [&](auto vector) {
      return LaunchTiles(c, product,
                         RunGradientStep<decltype(kind)::value, decltype(vector)::value, T>,
                         product, step, clip);
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_STEP_H_
