#ifndef COOPER_SYMBOL_OPS_RNN_RNN_PARAM_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_PARAM_H_

#include <cstdint>
#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

enum class RNNMode { kRnnRelu, kRnnTanh, kLstm, kGru };

// Parameters of RNN, _rnn_layer and _prepared_rnn.
struct RNNParam {
  int64_t state_size = 0;
  int64_t num_layers = 0;
  RNNMode mode = RNNMode::kLstm;
  bool bidirectional = false;
  double p = 0;
  bool state_outputs = false;
  std::optional<int64_t> projection_size;
  std::optional<double> lstm_state_clip_min;
  std::optional<double> lstm_state_clip_max;
  bool lstm_state_clip_nan = false;
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
