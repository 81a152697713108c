// output = data * weight^T + bias. MXNet: src/operator/nn/fully_connected.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/rules/bias_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum FullyConnectedArrays::Input;

OpSchema::Names FullyConnectedInputs(const OpCall& call) {
  if (call.param<FullyConnectedParam>().no_bias) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

// Shape rule: data (batch_size, ...) with flatten, (..., input_dim) without; weight (num_hidden,
// input_dim); bias (num_hidden,) or (num_hidden, 1); output (batch_size, num_hidden) or (...,
// num_hidden).
absl::Status FullyConnectedShape(ShapeContext& c) {
  const auto& param = c.param<FullyConnectedParam>();
  const PartialShape data = c.input(kData);
  // As in MXNet, nothing is inferred while data's rank is unknown.
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(SetBias(c, kBias, param.num_hidden, "(num_hidden,)"));
  }
  int64_t input_dim = data[data.rank() - 1];
  if (param.flatten) {
    input_dim = data.rank() == 1 ? 1 : PartialShape(data.dims().subspan(1)).num_elements();
  }
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kWeight, {param.num_hidden, input_dim}, "(num_hidden, input_dim)"));
  input_dim = c.input(kWeight)[1];
  if (param.flatten && input_dim == kUnknownDim) {
    // Only data's rank is known, as rules that infer more than MXNet's set it: this is missing
    // information. With known extents it is an error, as in MXNet.
    if (!data.dim_known(0)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' has shape ", data.ToString(),
                     ", expected all axes but the first to be known (or the weight's last one)"));
  }

  if (param.flatten) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, {data[0], param.num_hidden}, "(batch_size, num_hidden)"));
    PartialShape known = PartialShape::OfRank(data.rank());
    known[0] = c.output(0)[0];
    if (data.rank() == 2) known[1] = input_dim;
    return c.SetInput(kData, known, "(batch_size, input_dim)");
  }
  PartialShape known = data;
  known[known.rank() - 1] = param.num_hidden;
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, known, "(..., num_hidden)"));
  known = c.output(0);
  known[known.rank() - 1] = input_dim;
  return c.SetInput(kData, known, "(..., input_dim)");
}

// Shape rule: that of FullyConnected, but with weight (input_dim, num_hidden). A graph pass builds
// it from a FullyConnected whose data has a known shape.
absl::Status FullyConnectedTransposedShape(ShapeContext& c) {
  const auto& param = c.param<FullyConnectedParam>();
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(SetBias(c, kBias, param.num_hidden, "(num_hidden,)"));
  }
  int64_t input_dim = data[data.rank() - 1];
  PartialShape output = data;
  if (param.flatten) {
    input_dim = data.rank() == 1 ? 1 : PartialShape(data.dims().subspan(1)).num_elements();
    output = PartialShape({data[0], kUnknownDim});
  }
  output[output.rank() - 1] = param.num_hidden;
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kWeight, {input_dim, param.num_hidden}, "(input_dim, num_hidden)"));
  return c.SetOutput(0, output, "(..., num_hidden)");
}

// Gradient rule: the gradient of one factor needs only the other factor.
absl::StatusOr<std::vector<NodeEntry>> FullyConnectedGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_FullyConnected", {head, c.input(kData), c.input(kWeight)});
}

COOPER_REGISTER_OP(FullyConnected)
    .Describe("output = data * weight^T + bias, over the last axis or over all but the first.")
    .Param<FullyConnectedParam>()
    .Inputs(FullyConnectedInputs)
    .Shape(FullyConnectedShape)
    .Type(SameType)
    .Gradient(FullyConnectedGradient)
    .Kind(OpKind::kLayer)
    .Summary("num_hidden");

COOPER_REGISTER_OP(_fully_connected_transposed)
    .Describe("FullyConnected with a weight of shape (input_dim, num_hidden), without a gradient.")
    .Param<FullyConnectedParam>()
    .Inputs(FullyConnectedInputs)
    .Shape(FullyConnectedTransposedShape)
    .Type(SameType)
    .Kind(OpKind::kLayer)
    .Summary("num_hidden");

COOPER_REGISTER_OP(_backward_FullyConnected)
    .Describe("Gradients of FullyConnected with respect to data, weight and bias.")
    .Param<FullyConnectedParam>()
    .Inputs({"ograd", "data", "weight"})
    .Outputs([](const OpCall& call) { return FullyConnectedInputs(call); })
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
