#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_ARGUMENTS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_ARGUMENTS_H_

// Locates the arrays of RNN and of _rnn_layer: RNN has the weights of all layers and directions in
// one vector, _rnn_layer has those of its only layer in separate arrays.
//
// Kernels of both devices use it, so that one template serves both operators. The schemas in
// symbol/ops/rnn define the order of inputs and outputs.

#include <cstdint>

#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The operator: kPacked is RNN, with one vector of weights; kLayer is _rnn_layer, with four arrays.
enum class RNNForm { kPacked, kLayer };

// Indices of the forward node's inputs, counted from `first`. The gradients have the same order. -1
// for inputs that a node does not have.
struct RNNInputs {
  // `first` is 0 for the forward node; the backward node has gradients before these inputs.
  RNNInputs(RNNForm form, const RNNParam& param, int first = 0)
      : data(first), weights(first + 1), num_weights(form == RNNForm::kPacked ? 1 : 4) {
    int next = weights + num_weights;
    state = next++;
    if (RNNHasCell(param)) state_cell = next++;
    if (param.use_sequence_length) lengths = next++;
    end = next;
  }

  // (num_steps, batch, input_size).
  int data;
  int weights;  // the vector; or i2h weight, i2h bias, h2h weight, h2h bias
  int num_weights;
  // The initial state, (layers * directions, batch, state_size).
  int state;
  // lstm's initial cell state; the number of steps of each sequence, (batch,).
  int state_cell = -1, lengths = -1;
  int end;  // one beyond the last
};

// Indices of the backward node's inputs: the gradients of outputs (-1 for outputs that this RNN
// does not have), the forward node's inputs, its output and its reserve. For example, lstm with
// state outputs has the inputs output_grad, state_grad, state_cell_grad, data, weights, state,
// state_cell, output, reserve.
struct RNNBackwardInputs {
  RNNBackwardInputs(RNNForm form, const RNNParam& param)
      : forward(form, param, NumOutputGradients(param)),
        output(forward.end),
        reserve(forward.end + 1) {
    if (!param.state_outputs) return;
    state_grad = 1;
    if (RNNHasCell(param)) state_cell_grad = 2;
  }
  // Returns the number of the backward node's leading inputs, which are gradients of outputs. It is
  // 1 without state outputs, else 2, and 3 for lstm.
  static int NumOutputGradients(const RNNParam& param) {
    return param.state_outputs ? 1 + RNNNumStates(param) : 1;
  }

  // (num_steps, batch, directions * state_size).
  int output_grad = 0;
  // The gradients of the last states; (layers * directions, batch, state_size).
  int state_grad = -1, state_cell_grad = -1;
  // The forward node's inputs, counted in the backward node.
  RNNInputs forward;
  // The forward node's output, and the values that it stored for this pass.
  int output, reserve;
};

// The arrays of one layer and direction, with elements of T, not owned. Weights have gates *
// state_size rows.
template <typename T>
struct RNNWeights {
  int64_t input_size = 0;  // columns of the i2h weight
  // (gates * state_size, input_size), row-major.
  T* i2h_weight = nullptr;
  // (gates * state_size,).
  T* i2h_bias = nullptr;
  // (gates * state_size, state_size), row-major.
  T* h2h_weight = nullptr;
  // (gates * state_size,).
  T* h2h_bias = nullptr;
};

// Returns the arrays of a layer and direction. `arrays` are the RNNInputs::num_weights views of the
// weights or of their gradients. `input_size` is the number of features of the first layer's input.
// For kLayer, `layer` and `direction` are not used. The arrays have dtype T.
template <typename T>
RNNWeights<T> RNNWeightsOf(RNNForm form, const RNNParam& param, int64_t input_size,
                           absl::Span<const ArrayView> arrays, int layer, int direction) {
  if (form != RNNForm::kPacked) {
    return {.input_size = input_size,
            .i2h_weight = arrays[0].as<T>(),
            .i2h_bias = arrays[1].as<T>(),
            .h2h_weight = arrays[2].as<T>(),
            .h2h_bias = arrays[3].as<T>()};
  }
  const RNNWeightOffsets offsets = RNNOffsets(param, input_size, layer, direction);
  T* all = arrays[0].as<T>();
  return {.input_size = offsets.input_size,
          .i2h_weight = all + offsets.i2h_weight,
          .i2h_bias = all + offsets.i2h_bias,
          .h2h_weight = all + offsets.h2h_weight,
          .h2h_bias = all + offsets.h2h_bias};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_ARGUMENTS_H_
