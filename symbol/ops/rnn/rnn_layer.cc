// One recurrent layer over a whole sequence, in one direction, with weights in separate arrays. Not
// in symbol files: graph passes insert it in place of unrolled cells.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/rnn_clip.h"
#include "symbol/ops/rnn/rnn_gradient.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/ops/rnn/rnn_type.h"
#include "symbol/ops/rules/bias_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

enum Input { kData, kI2hWeight, kI2hBias, kH2hWeight, kH2hBias, kState, kStateCell };
enum Output { kOutput, kStateOutput, kStateCellOutput };

// Returns the inputs that have gradients: all but the lengths.
OpSchema::Names DifferentiableInputs(const OpCall& call) {
  OpSchema::Names names = {"data", "i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias", "state"};
  if (RNNHasCell(call.param<RNNParam>())) names.push_back("state_cell");
  return names;
}

OpSchema::Names LayerInputs(const OpCall& call) {
  OpSchema::Names names = DifferentiableInputs(call);
  if (call.param<RNNParam>().use_sequence_length) names.push_back("sequence_length");
  return names;
}

OpSchema::Names VisibleOutputs(const OpCall& call) {
  if (RNNHasCell(call.param<RNNParam>())) return {"output", "state_output", "statecell_output"};
  return {"output", "state_output"};
}

// As in RNN, the hidden output "reserve" holds the values that the forward pass keeps for the
// backward pass, which overwrites it.
OpSchema::Names LayerOutputs(const OpCall& call) {
  OpSchema::Names names = VisibleOutputs(call);
  names.push_back("reserve");
  return names;
}

absl::Status CheckParam(const RNNParam& param) {
  if (param.num_layers == 1 && !param.bidirectional && param.state_outputs && param.p == 0 &&
      !param.projection_size.has_value()) {
    return CheckRNNClip(param);
  }
  return absl::InvalidArgumentError(
      "needs num_layers 1, state_outputs and nothing of dropout, projection and a second "
      "direction");
}

// Shape rule: data (length, batch, input); sequence_length (batch,); states and their outputs
// (batch, state_size); weights (gates * state_size, input or state_size); biases (gates *
// state_size,) or with a second axis of 1; output (length, batch, state_size).
absl::Status LayerShape(ShapeContext& c) {
  const auto& param = c.param<RNNParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  const int64_t hidden = param.state_size;
  const int64_t rows = RNNNumGates(param.mode) * hidden;
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, PartialShape::OfRank(3), "(length, batch, input)"));
  const int64_t length = c.input(kData)[0];
  const int64_t batch = c.input(kData)[1];
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kI2hWeight, {rows, c.input(kData)[2]}, "(gates * state_size, input)"));
  COOPER_RETURN_IF_ERROR(SetBias(c, kI2hBias, rows, "(gates * state_size,)"));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kH2hWeight, {rows, hidden}, "(gates * state_size, state_size)"));
  COOPER_RETURN_IF_ERROR(SetBias(c, kH2hBias, rows, "(gates * state_size,)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kState, {batch, hidden}, "(batch, state_size)"));
  if (RNNHasCell(param)) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kStateCell, {batch, hidden}, "(batch, state_size)"));
  }
  if (param.use_sequence_length) {
    COOPER_RETURN_IF_ERROR(c.SetInput(c.num_inputs() - 1, {batch}, "(batch,)"));
  }
  COOPER_RETURN_IF_ERROR(
      c.SetOutput(kOutput, {length, batch, hidden}, "(length, batch, state_size)"));
  for (int i = kStateOutput; i < c.num_outputs() - 1; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, {batch, hidden}, "(batch, state_size)"));
  }
  if (length == kUnknownDim || batch == kUnknownDim) return absl::OkStatus();
  return c.SetOutput(c.num_outputs() - 1, {RNNReserve(param, length, batch).size()});
}

OpSchema::Names BackwardInputs(const OpCall& call) {
  return RNNBackwardInputNames(VisibleOutputs(call), LayerInputs(call));
}

absl::StatusOr<std::vector<NodeEntry>> LayerGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> inputs, RNNBackwardInputs(c));
  return c.Backward("_backward_rnn_layer", std::move(inputs));
}

COOPER_REGISTER_OP(_rnn_layer)
    .Describe("Runs a layer of recurrent cells over sequences: RNN with one layer and direction.")
    .Param<RNNParam>()
    .Inputs(LayerInputs)
    .Outputs(LayerOutputs)
    .VisibleOutputs([](const OpCall& call) {
      return static_cast<int>(VisibleOutputs(call).size());
    })
    .Shape(LayerShape)
    .Type(RNNType)
    .Gradient(LayerGradient);

COOPER_REGISTER_OP(_backward_rnn_layer)
    .Describe("Gradients of _rnn_layer with respect to all its inputs.")
    .Param<RNNParam>()
    .Inputs(BackwardInputs)
    .Outputs(DifferentiableInputs)
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(
    _rnn_layer,
    {{"state_size", "2"}, {"num_layers", "1"}, {"mode", "rnn_tanh"}, {"state_outputs", "True"}},
    {{5, 3, 4}, {2, 4}, {2}, {2, 2}, {2}, {3, 2}});

}  // namespace
}  // namespace cooper
