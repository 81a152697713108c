#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_SCRATCH_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_SCRATCH_H_

// Lays out the workspace of the gradients of RNN and _rnn_layer. For .cu files.
//
// rnn_backward.cu uses it. rnn_backward_arguments.h is the counterpart for the CPU. The layout
// depends on the parameters and extents alone.

#include <cstdint>

#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_step_product.h"
#include "executor/program/scratch_cursor.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Returns whether the kernel of a cell's gradient also computes the product of the later step. This
// needs a transposed weight, which costs about as much time as one fused step saves, so at least
// two steps must be fused. The result implies FusesSteps.
inline bool FusesGradientSteps(const RNNDims& dims) {
  return dims.num_steps > 2 && FusesSteps(dims);
}

// The workspace's arrays. With a null `base` only `bytes` is valid. Memory is device memory of the
// node's workspace; the arrays are used by all layers and directions in turn.
template <typename T>
struct GradientScratch {
  GradientScratch(const RNNParam& param, const RNNDims& dims, void* base) {
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    dh = cursor.Take<T>(dims.batch * dims.hidden);
    if (RNNHasCell(param)) dc = cursor.Take<T>(dims.batch * dims.hidden);
    if (dims.layers > 1) dy = cursor.Take<T>(rows * dims.output_row());
    if (dims.layers > 1 && param.p > 0) dropped = cursor.Take<T>(rows * dims.output_row());
    if (FusesGradientSteps(dims)) {
      transposed = cursor.Take<T>(dims.recurrent * dims.hidden * dims.hidden);
    }
    if (param.use_sequence_length) {
      lengths = cursor.Take<int64_t>(dims.batch);
      h_prev = cursor.Take<T>(rows * dims.hidden);
    }
    bytes = cursor.bytes();
  }

  T* dh = nullptr;  // gradient passed to the previous step, (batch, hidden)
  // The gradient of lstm's cell state for the previous step, (batch, hidden).
  T* dc = nullptr;
  T* dy = nullptr;  // the gradient of the output of the layer below
  // A layer's input after dropout.
  T* dropped = nullptr;
  T* transposed = nullptr;  // h2h weight of the current layer and direction; null: not needed
  // The lengths as LoadLengths writes them, (batch,).
  int64_t* lengths = nullptr;
  // The output of GatherPrevious, (num_steps, batch, hidden).
  T* h_prev = nullptr;
  // The size of the whole workspace.
  int64_t bytes = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_SCRATCH_H_
