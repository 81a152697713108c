#ifndef COOPER_SYMBOL_OPS_RNN_RNN_PARAM_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_PARAM_H_

// Parameters of RNN (rnn.cc), layers of recurrent cells over whole sequences, and of the operators
// that graph passes of the executor put in its place: _rnn_layer (rnn_layer.cc), one layer in one
// direction with separate weights, and _prepared_rnn (prepared_rnn.cc). rnn_layout.h has the layout
// of the flat arrays. MXNet: src/operator/rnn.cc.

#include <cstdint>
#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The kind of cell. With x the input, h the last state, s_g = W_g * x + b_g + R_g * h + b'_g the
// sum of gate g, and c the cell of an lstm, the next state h' is
//
//   rnn_relu, rnn_tanh  act(s)
//   lstm  c' = sigmoid(s_f) * c + sigmoid(s_i) * tanh(s_g);  h' = sigmoid(s_o) * tanh(c')
//   gru   n = tanh(W_n * x + b_n + sigmoid(s_r) * (R_n * h + b'_n))
//         h' = (1 - sigmoid(s_z)) * n + sigmoid(s_z) * h
enum class RNNMode { kRnnRelu, kRnnTanh, kLstm, kGru };

// Parameters of RNN, _rnn_layer and _prepared_rnn. RNN's inputs are data (length, batch, input),
// parameters (size,), state and, for lstm, state_cell (num_layers * directions, batch, state_size),
// and sequence_length (batch,), of any dtype, if used. Its outputs are output (length, batch,
// directions * state_size) and, with state_outputs, the last states; a hidden one keeps values for
// the gradient. All inputs but the lengths have gradients.
struct RNNParam {
  int64_t state_size = 0;
  int64_t num_layers = 0;
  RNNMode mode = RNNMode::kLstm;
  // Whether each layer has a second direction, from the last step to the first, whose output is
  // appended to the first one's features.
  bool bidirectional = false;
  // Share of the elements of each layer's output, except the last layer's, that training sets to 0,
  // as Dropout does. Must be below 1.
  double p = 0;
  bool state_outputs = false;
  // Features to which the output of an lstm is projected. No kernel computes it: executors replace
  // such a node by the steps of its cells (executor/passes/graph/expand_projection.h), and kernels
  // fail with kUnimplemented when one that they did not replace is prepared.
  std::optional<int64_t> projection_size;
  // Bounds of an lstm's cell state; both or none must be set (CheckRNNClip). A clipped state passes
  // no gradient. With lstm_state_clip_nan a NaN becomes the lower bound.
  std::optional<double> lstm_state_clip_min;
  std::optional<double> lstm_state_clip_max;
  bool lstm_state_clip_nan = false;
  // Whether sequence_length is an input: steps from a sequence's length on give zeros and do not
  // change its state; the second direction starts at the last valid step.
  bool use_sequence_length = false;

  static void Declare(ParamDeclaration<RNNParam>& d) {
    // Files are untrusted: no weight has more features.
    constexpr int64_t kMaxFeatures = int64_t{1} << 31;
    d.Field("state_size", &RNNParam::state_size)
        .Required()
        .Min(1)
        .Max(kMaxFeatures)
        .Doc("features of the state of each layer and direction");
    d.Field("num_layers", &RNNParam::num_layers)
        .Required()
        .Min(1)
        .Max(1 << 16)
        .Doc("layers above each other");
    d.Field("bidirectional", &RNNParam::bidirectional)
        .Doc("whether each layer also runs from the last step to the first");
    d.Enum("mode", &RNNParam::mode,
           {{"rnn_relu", RNNMode::kRnnRelu},
            {"rnn_tanh", RNNMode::kRnnTanh},
            {"lstm", RNNMode::kLstm},
            {"gru", RNNMode::kGru}})
        .Required()
        .Doc("the kind of cell");
    d.Field("p", &RNNParam::p)
        .Min(0)
        .Max(1)
        .Doc("share of the outputs of every layer but the last that training drops");
    d.Field("state_outputs", &RNNParam::state_outputs)
        .Doc("whether the final states are outputs too");
    d.Field("projection_size", &RNNParam::projection_size)
        .Max(kMaxFeatures)
        .Doc("features to which the output of an lstm is projected");
    d.Field("lstm_state_clip_min", &RNNParam::lstm_state_clip_min)
        .Doc("least value of a cell state; goes with lstm_state_clip_max");
    d.Field("lstm_state_clip_max", &RNNParam::lstm_state_clip_max)
        .Doc("greatest value of a cell state; goes with lstm_state_clip_min");
    d.Field("lstm_state_clip_nan", &RNNParam::lstm_state_clip_nan)
        .Doc("whether a cell state that is not a number becomes lstm_state_clip_min");
    d.Field("use_sequence_length", &RNNParam::use_sequence_length)
        .Doc("whether an input tells the number of steps of each sequence");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_PARAM_H_
