#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_BACKWARD_ARGUMENTS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_BACKWARD_ARGUMENTS_H_

// Lays out the workspace of the CPU gradient kernels of RNN and of _rnn_layer.
//
// rnn_backward.cc uses it. rnn_gradient_scratch.h is the counterpart for GPUs. The layout depends
// on the parameters and extents alone.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/loops/padded_stride.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "executor/program/scratch_cursor.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The workspace's arrays. With a null `base` only `bytes` is valid. PrepareRNNBackward reads
// `bytes` when the node is bound; the kernel makes the struct again with the workspace's address.
// Arrays with two entries have one for each direction. Arrays are separate and aligned to 64 bytes.
// Arrays that the parameters do not need stay null.
template <typename T>
struct RNNBackwardScratch {
  RNNBackwardScratch(const RNNParam& param, const RNNDims& dims, void* base) {
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    weight_stride = PaddedStride(dims.hidden);
    copies_weight = dims.hidden % 128 == 0;
    for (int d = 0; d < dims.directions; ++d) {
      dh[d] = cursor.Take<T>(dims.batch * dims.hidden);
      if (RNNHasCell(param)) dc[d] = cursor.Take<T>(dims.batch * dims.hidden);
      if (copies_weight) weight[d] = cursor.Take<T>(dims.recurrent * dims.hidden * weight_stride);
    }
    bias = cursor.Take<T>(dims.slot_row());
    if (dims.layers > 1) dy = cursor.Take<T>(rows * dims.output_row());
    if (dims.layers > 1 && param.p > 0) {
      dropped = cursor.Take<T>(rows * dims.output_row());
    }
    if (param.use_sequence_length) {
      const int64_t features =
          std::max(dims.input, dims.layers > 1 ? dims.output_row() : int64_t{0});
      h_prev = cursor.Take<T>(rows * dims.hidden);
      input = cursor.Take<T>(rows * features);
      row_order = cursor.Take<int64_t>(RNNRows::ScratchSize(dims.num_steps, dims.batch));
    }
    bytes = cursor.bytes();
  }

  // Elements from one row of a copied weight to the next.
  int64_t weight_stride;
  // Whether the h2h weights are copied to rows with padding: with rows of a multiple of 128
  // elements, the same columns of many rows would compete for the same sets of the cache.
  bool copies_weight;
  T* dh[2] = {};  // gradient passed to the previous step, (batch, hidden); with lengths by place
  T* dc[2] = {};
  T* weight[2] = {};  // h2h weights with padded rows
  T* bias = nullptr;  // sums of ds over all steps and rows
  T* dy = nullptr;    // the gradient of the output of the layer below
  // The input of a layer after dropout, which the gradient of its i2h weight needs.
  T* dropped = nullptr;
  // With lengths, packed: each step's previous state, and a layer's input or its gradient.
  T* h_prev = nullptr;
  T* input = nullptr;
  // The scratch of RNNRows.
  int64_t* row_order = nullptr;
  // The size of the whole workspace.
  int64_t bytes = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_BACKWARD_ARGUMENTS_H_
