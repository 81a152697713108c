// Layers of recurrent cells over whole sequences. MXNet: src/operator/rnn.cc.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/rnn_clip.h"
#include "symbol/ops/rnn/rnn_gradient.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/ops/rnn/rnn_type.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

enum Input { kData, kParameters, kState, kStateCell };
enum Output { kOutput, kStateOutput, kStateCellOutput };

// Returns the inputs that have gradients: all but the lengths.
OpSchema::Names DifferentiableInputs(const OpCall& call) {
  OpSchema::Names names = {"data", "parameters", "state"};
  if (RNNHasCell(call.param<RNNParam>())) names.push_back("state_cell");
  return names;
}

OpSchema::Names RNNInputs(const OpCall& call) {
  OpSchema::Names names = DifferentiableInputs(call);
  if (call.param<RNNParam>().use_sequence_length) names.push_back("sequence_length");
  return names;
}

OpSchema::Names VisibleOutputs(const RNNParam& param) {
  if (!param.state_outputs) return {"output"};
  if (!RNNHasCell(param)) return {"output", "state_output"};
  return {"output", "state_output", "statecell_output"};
}

// The hidden output "reserve" holds the values that the forward pass keeps for the backward pass,
// which overwrites it.
OpSchema::Names RNNOutputs(const OpCall& call) {
  OpSchema::Names names = VisibleOutputs(call.param<RNNParam>());
  names.push_back("reserve");
  return names;
}

absl::Status CheckParam(const RNNParam& param) {
  if (param.p >= 1) {
    return absl::InvalidArgumentError(absl::StrCat("p ", param.p, " is not less than 1"));
  }
  if (param.projection_size.has_value() && (!RNNHasCell(param) || *param.projection_size < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("projection_size ", *param.projection_size,
                                                   " must be positive and needs mode lstm"));
  }
  return CheckRNNClip(param);
}

// Infers the length of `parameters` from the features of `data`, or the reverse.
absl::Status ParametersShape(ShapeContext& c) {
  const auto& param = c.param<RNNParam>();
  const int64_t input_size = c.input(kData)[2];
  if (input_size != kUnknownDim) {
    return c.SetInput(kParameters, {RNNParameterSize(param, input_size)}, "(parameter_size,)");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kParameters, {kUnknownDim}, "(parameter_size,)"));
  const int64_t size = c.input(kParameters)[0];
  if (size == kUnknownDim) return absl::OkStatus();
  const std::optional<int64_t> from_size = RNNInputSize(param, size);
  if (!from_size.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input 'parameters' has ", size, " elements, which no input size gives: ",
        RNNParameterSize(param, 1), " with 1 feature, ", RNNParameterSize(param, 2), " with 2"));
  }
  return c.SetInput(kData, {kUnknownDim, kUnknownDim, *from_size}, "(length, batch, input)");
}

// Shape rule: with D directions, L layers: data (length, batch, input); state, state_cell and their
// outputs (L * D, batch, state_size); output (length, batch, D * state_size); sequence_length
// (batch,).
absl::Status RNNShape(ShapeContext& c) {
  const auto& param = c.param<RNNParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  const bool has_cell = RNNHasCell(param);
  const int64_t directions = RNNNumDirections(param);
  const int64_t output_size = RNNOutputSize(param);
  const int lengths = has_cell ? kStateCell + 1 : kStateCell;
  const int reserve = c.num_outputs() - 1;

  COOPER_RETURN_IF_ERROR(c.SetInput(kData, PartialShape::OfRank(3), "(length, batch, input)"));
  COOPER_RETURN_IF_ERROR(ParametersShape(c));

  PartialShape output = {c.input(kData)[0], c.input(kData)[1], directions * output_size};
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, output, "(length, batch, directions * state_size)"));
  const int64_t num_steps = c.output(kOutput)[0];
  int64_t batch = c.output(kOutput)[1];

  // Merges the batch sizes of all arrays.
  const auto state_shape = [&](int64_t size) {
    return PartialShape{param.num_layers * directions, batch, size};
  };
  const char* why = "(num_layers * directions, batch, state_size)";
  for (int round = 0; round < 2; ++round) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kState, state_shape(output_size), why));
    batch = c.input(kState)[1];
    if (has_cell) {
      COOPER_RETURN_IF_ERROR(c.SetInput(kStateCell, state_shape(param.state_size), why));
      batch = c.input(kStateCell)[1];
    }
    if (param.use_sequence_length) {
      COOPER_RETURN_IF_ERROR(c.SetInput(lengths, {batch}, "(batch,)"));
      batch = c.input(lengths)[0];
    }
    if (param.state_outputs) {
      COOPER_RETURN_IF_ERROR(c.SetOutput(kStateOutput, state_shape(output_size), why));
      batch = c.output(kStateOutput)[1];
      if (has_cell) {
        COOPER_RETURN_IF_ERROR(c.SetOutput(kStateCellOutput, state_shape(param.state_size), why));
        batch = c.output(kStateCellOutput)[1];
      }
    }
  }
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, {num_steps, batch, kUnknownDim}, "(length, batch, input)"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, {num_steps, batch, kUnknownDim}));
  if (num_steps == kUnknownDim || batch == kUnknownDim) return absl::OkStatus();
  return c.SetOutput(reserve, {RNNReserve(param, num_steps, batch).size()});
}

OpSchema::Names BackwardInputs(const OpCall& call) {
  return RNNBackwardInputNames(VisibleOutputs(call.param<RNNParam>()), RNNInputs(call));
}

absl::StatusOr<std::vector<NodeEntry>> RNNGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> inputs, RNNBackwardInputs(c));
  return c.Backward("_backward_RNN", std::move(inputs));
}

COOPER_REGISTER_OP(RNN)
    .Alias("_npx_rnn")
    .Describe(
        "Runs layers of recurrent cells (rnn_relu, rnn_tanh, lstm, gru) over sequences. Weights of "
        "all layers and directions, then all biases, lie in one vector, as cuDNN has them. With "
        "use_sequence_length, steps past a sequence's length give zeros and leave its state.")
    .Param<RNNParam>()
    .Inputs(RNNInputs)
    .Outputs(RNNOutputs)
    .VisibleOutputs([](const OpCall& call) {
      return static_cast<int>(VisibleOutputs(call.param<RNNParam>()).size());
    })
    .Shape(RNNShape)
    .Type(RNNType)
    .Gradient(RNNGradient)
    .Random()
    .Kind(OpKind::kLayer)
    .Summary([](AttrMap& params) {
      return absl::StrCat(params["mode"], ", ", params["num_layers"], "x", params["state_size"],
                          params["bidirectional"] == "True" ? ", both ways" : "");
    });

COOPER_REGISTER_OP(_backward_RNN)
    .Describe("Gradients of RNN with respect to data, parameters and states.")
    .Param<RNNParam>()
    .Inputs(BackwardInputs)
    .Outputs([](const OpCall& call) { return DifferentiableInputs(call); })
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
