#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_FORWARD_ARGUMENTS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_FORWARD_ARGUMENTS_H_

// The decisions of the CPU forward kernels of RNN and of _rnn_layer when they are bound, and the
// layout of their workspace.
//
// rnn_forward.cc makes a plan when the node is bound, for training, so that the workspace suffices
// for both, and another one in each run. rnn_backward_arguments.h is the counterpart for the
// gradients.

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "executor/kernels/loops/padded_stride.h"
#include "executor/kernels/rnn/packed_step.h"
#include "executor/kernels/rnn/rnn_arguments.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Indices of the visible outputs. The reserve is the last output. kStateCell exists for lstm only.
struct RNNOutputs {
  enum Output { kOutput, kState, kStateCell };
};

// The least number of steps for which the h2h weight is transposed or packed. With fewer steps,
// reordering it costs more than it gains.
inline constexpr int64_t kMinRNNStepsToTranspose = 4;

// Decisions made when the node is bound. A plain value; making it allocates nothing.
struct RNNForwardPlan {
  // `reqs` are those of all outputs, the reserve's last. `is_train` is false for prediction, where
  // dropout does nothing.
  RNNForwardPlan(const RNNParam& param, const ArrayView& data, absl::Span<const WriteReq> reqs,
                 bool is_train)
      : dims(param, data.shape),
        reserve(param, dims.num_steps, dims.batch),
        keep(reqs.back() != WriteReq::kNull),
        drop(is_train && param.p > 0 && param.num_layers > 1),
        has_cell(RNNHasCell(param)),
        packed(!keep && data.dtype == DType::kFloat32 && HasPackedRNNWeight(param.mode) &&
               dims.num_steps >= kMinRNNStepsToTranspose),
        transpose(!packed && dims.num_steps >= kMinRNNStepsToTranspose),
        own_output(reqs[RNNOutputs::kOutput] != WriteReq::kWrite),
        has_lengths(param.use_sequence_length) {}

  RNNDims dims;
  // The layout of the values that the backward pass reads.
  RNNReserve reserve;
  bool keep;  // whether the reserve is requested
  bool drop;  // whether dropout is applied
  // Whether the mode is lstm.
  bool has_cell;
  bool packed;  // whether steps use packed_step.h
  // Whether the h2h weights are transposed in the workspace.
  bool transpose;
  bool own_output;  // whether the last layer's output is computed in the workspace
  // Whether sequences have their own lengths.
  bool has_lengths;
};

// The workspace's arrays. Without `keep` they replace the reserve. With a null `base` only `bytes`
// is valid. The kernel's preparation reads `bytes`, and the kernel makes the struct again with the
// workspace's address. Arrays with two entries have one for each direction; all layers use them in
// turn. Arrays are separate and aligned to 64 bytes. Those that the plan does not need stay null.
template <typename T>
struct RNNForwardScratch {
  RNNForwardScratch(const RNNForwardPlan& plan, void* base) {
    const RNNDims& dims = plan.dims;
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    weight_stride = PaddedStride(dims.recurrent * dims.hidden);
    for (int d = 0; d < dims.directions; ++d) {
      if (plan.packed) {
        weight[d] = cursor.Take<T>(PackedWeightSize(dims.recurrent, dims.hidden, dims.hidden));
      } else if (plan.transpose) {
        weight[d] = cursor.Take<T>(dims.hidden * weight_stride);
      }
      bias[d] = cursor.Take<T>(dims.slot_row());
      if (!plan.keep) {
        slots[d] = cursor.Take<T>(rows * dims.slot_row());
        if (plan.has_cell) cells[d] = cursor.Take<T>(dims.batch * dims.hidden);
      }
      if (plan.has_lengths) {
        state[d] = cursor.Take<T>(dims.batch * dims.hidden);
        if (plan.has_cell) state_cell[d] = cursor.Take<T>(dims.batch * dims.hidden);
      }
    }
    if (!plan.keep && dims.layers > 1) between = cursor.Take<T>(rows * dims.output_row());
    if (plan.own_output) output = cursor.Take<T>(rows * dims.output_row());
    if (plan.drop) {
      dropped = cursor.Take<T>(rows * dims.output_row());
      if (!plan.keep) mask = cursor.Take<uint8_t>(rows * dims.output_row());
    }
    if (plan.has_lengths) {
      const int64_t features =
          std::max(dims.input, dims.layers > 1 ? dims.output_row() : int64_t{0});
      input = cursor.Take<T>(rows * features);
      row_order = cursor.Take<int64_t>(RNNRows::ScratchSize(dims.num_steps, dims.batch));
    }
    bytes = cursor.bytes();
  }

  // Elements from one row of a transposed weight to the next.
  int64_t weight_stride;
  T* weight[2] = {};  // h2h weights transposed, (hidden, recurrent * hidden), or packed
  T* bias[2] = {};    // the sum of the biases of each slot
  // (num_steps, batch, slots, hidden) or, with lengths, packed rows; null with `keep`.
  T* slots[2] = {};
  // lstm's latest cell state, (batch, hidden); null with `keep`.
  T* cells[2] = {};
  T* between = nullptr;  // output of every second layer; the others use the last layer's
  // The last layer's output; null if the node's output receives it directly.
  T* output = nullptr;
  // A layer's input after dropout.
  T* dropped = nullptr;
  // The mask of that dropout: 1 for elements that are kept; null with `keep`.
  uint8_t* mask = nullptr;
  // With lengths: the states by place in the order of rows, and a layer's packed input.
  T* state[2] = {};
  T* state_cell[2] = {};
  T* input = nullptr;
  // The scratch of RNNRows.
  int64_t* row_order = nullptr;
  // The size of the whole workspace.
  int64_t bytes = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_FORWARD_ARGUMENTS_H_
