#ifndef COOPER_SYMBOL_OPS_RNN_PREPARED_RNN_ARGUMENTS_H_
#define COOPER_SYMBOL_OPS_RNN_PREPARED_RNN_ARGUMENTS_H_

// Positions of the inputs and outputs of _prepared_rnn, which runs several recurrent layers in
// prediction: those of each layer are consecutive, one layer after the other. The schema
// (prepared_rnn.cc), the graph pass that builds nodes and the kernel share them. Parameters are
// RNNParam; only lstm and gru in one direction, with state_outputs and without dropout and
// projection, are supported.

#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Indices of the inputs: data, then for each layer two packed weights (pack_rnn_weight_param.h),
// two biases and its states (batch, state_size), then sequence_length (batch,) if it is used.
struct PreparedRNNInputs {
  explicit PreparedRNNInputs(const RNNParam& param)
      : of_layer(4 + RNNNumStates(param)),
        lengths(param.use_sequence_length ? i2h_weight(static_cast<int>(param.num_layers)) : -1) {}

  int i2h_weight(int layer) const { return 1 + layer * of_layer; }
  int i2h_bias(int layer) const { return i2h_weight(layer) + 1; }
  int h2h_weight(int layer) const { return i2h_weight(layer) + 2; }
  int h2h_bias(int layer) const { return i2h_weight(layer) + 3; }
  // State `k` of a layer: 0 is the hidden state, 1 the cell of an lstm.
  int state(int layer, int k) const { return i2h_weight(layer) + 4 + k; }

  int data = 0;
  int of_layer;  // inputs
  int lengths;   // -1: there are none
};

// Returns the output with the last state `k` of a layer. Output 0 is the output of the last layer.
inline int PreparedRNNState(const RNNParam& param, int layer, int k) {
  return 1 + layer * RNNNumStates(param) + k;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_PREPARED_RNN_ARGUMENTS_H_
