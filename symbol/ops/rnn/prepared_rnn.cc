// Stacked recurrent layers over a whole sequence, in one direction and for prediction, with weights
// packed by _pack_rnn_weight. Not in symbol files: the pass packed_rnn_weights inserts it where
// weights are constants.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/pack_rnn_weight_param.h"
#include "symbol/ops/rnn/prepared_rnn_arguments.h"
#include "symbol/ops/rnn/rnn_clip.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/ops/rnn/rnn_type.h"
#include "symbol/ops/rules/bias_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"

namespace cooper {
namespace {

OpSchema::Names InputNames(const OpCall& call) {
  const auto& param = call.param<RNNParam>();
  OpSchema::Names names = {"data"};
  for (int64_t layer = 0; layer < param.num_layers; ++layer) {
    for (const char* name : {"i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias", "state"}) {
      names.push_back(absl::StrCat("l", layer, "_", name));
    }
    if (RNNNumStates(param) > 1) names.push_back(absl::StrCat("l", layer, "_state_cell"));
  }
  if (param.use_sequence_length) names.push_back("sequence_length");
  return names;
}

OpSchema::Names OutputNames(const OpCall& call) {
  const auto& param = call.param<RNNParam>();
  OpSchema::Names names = {"output"};
  for (int64_t layer = 0; layer < param.num_layers; ++layer) {
    names.push_back(absl::StrCat("l", layer, "_state_output"));
    if (RNNNumStates(param) > 1) names.push_back(absl::StrCat("l", layer, "_statecell_output"));
  }
  return names;
}

absl::Status CheckParam(const RNNParam& param) {
  if (HasPackedRNNWeight(param.mode) && !param.bidirectional && param.state_outputs &&
      param.p == 0 && !param.projection_size.has_value()) {
    return CheckRNNClip(param);
  }
  return absl::InvalidArgumentError(
      "needs lstm or gru, state_outputs and nothing of dropout, projection and a second direction");
}

// Shape rule: data (length, batch, input); for each layer packed weights, biases (gates *
// state_size,) or with a second axis of 1, states and their outputs (batch, state_size);
// sequence_length (batch,); output (length, batch, state_size).
absl::Status ShapeRule(ShapeContext& c) {
  const auto& param = c.param<RNNParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  const int64_t hidden = param.state_size;
  const int gates = RNNNumGates(param.mode);
  const PreparedRNNInputs in(param);
  COOPER_RETURN_IF_ERROR(c.SetInput(in.data, PartialShape::OfRank(3), "(length, batch, input)"));
  const int64_t length = c.input(in.data)[0];
  const int64_t batch = c.input(in.data)[1];
  int64_t features = c.input(in.data)[2];
  for (int layer = 0; layer < param.num_layers; ++layer) {
    COOPER_RETURN_IF_ERROR(
        c.SetInput(in.i2h_weight(layer), PackedRNNWeightShape(gates, hidden, features), "packed"));
    COOPER_RETURN_IF_ERROR(SetBias(c, in.i2h_bias(layer), gates * hidden, "(gates * state_size,)"));
    COOPER_RETURN_IF_ERROR(
        c.SetInput(in.h2h_weight(layer), PackedRNNWeightShape(gates, hidden, hidden), "packed"));
    COOPER_RETURN_IF_ERROR(SetBias(c, in.h2h_bias(layer), gates * hidden, "(gates * state_size,)"));
    for (int k = 0; k < RNNNumStates(param); ++k) {
      COOPER_RETURN_IF_ERROR(
          c.SetInput(in.state(layer, k), {batch, hidden}, "(batch, state_size)"));
    }
    features = hidden;
  }
  if (in.lengths >= 0) COOPER_RETURN_IF_ERROR(c.SetInput(in.lengths, {batch}, "(batch,)"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, {length, batch, hidden}, "(length, batch, state_size)"));
  for (int i = 1; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, {batch, hidden}, "(batch, state_size)"));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_OP(_prepared_rnn)
    .Describe("Runs layers of recurrent cells with weights that _pack_rnn_weight has packed.")
    .Param<RNNParam>()
    .Inputs(InputNames)
    .Outputs(OutputNames)
    .Shape(ShapeRule)
    .Type(RNNType);

COOPER_OP_EXAMPLE(
    _prepared_rnn,
    {{"state_size", "2"}, {"num_layers", "2"}, {"mode", "gru"}, {"state_outputs", "True"}},
    {{5, 3, 4},
     {1, 4, 3, 16},
     {6},
     {1, 2, 3, 16},
     {6},
     {3, 2},
     {1, 2, 3, 16},
     {6},
     {1, 2, 3, 16},
     {6},
     {3, 2}});

}  // namespace
}  // namespace cooper
