// Rectifiers with a non-zero slope for negative elements. MXNet: src/operator/leaky_relu.cc.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/leaky_relu_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum LeakyReLUArrays::Input;
using enum LeakyReLUArrays::Output;

LeakyReluParam::Type TypeOf(const OpCall& call) { return call.param<LeakyReluParam>().act_type; }

// Shape rule: gamma broadcasts against data's first two axes; an unknown gamma becomes (channels,).
absl::Status LeakyReluShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  const PartialShape& data = c.input(kData);
  if (TypeOf(c.call()) == LeakyReluParam::kRrelu) return c.SetOutput(kMask, data);
  if (TypeOf(c.call()) != LeakyReluParam::kPrelu || !data.rank_known()) return absl::OkStatus();
  if (!c.input(kGamma).rank_known()) {
    if (data.rank() < 2) {
      return absl::InvalidArgumentError(absl::StrCat("input 'data' has shape ", data.ToString(),
                                                     ", expected an axis of channels for gamma"));
    }
    return c.SetInput(kGamma, {data[1]}, "(channels,)");
  }
  const PartialShape& gamma = c.input(kGamma);
  if (!gamma.IsFull() || !data.IsFull()) return absl::OkStatus();
  // Aligns gamma with the last of data's first two axes that fits.
  int left = gamma.rank();
  for (int i = std::min(data.rank(), 2) - 1; i >= 0 && left > 0; --i) {
    if (gamma[left - 1] == data[i] || gamma[left - 1] == 1) --left;
  }
  if (left == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 'gamma' has shape ", gamma.ToString(),
                                                 ", expected one that broadcasts to the first two "
                                                 "axes of input 'data' ",
                                                 data.ToString()));
}

absl::StatusOr<std::vector<NodeEntry>> LeakyReluGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  const NodeEntry value =
      c.call().param<LeakyReluParam>().gradient_takes_data() ? c.input(kData) : c.output(kOutput);
  switch (TypeOf(c.call())) {
    case LeakyReluParam::kPrelu:
      return c.Backward("_backward_LeakyReLU", {head, value, c.input(kGamma)});
    case LeakyReluParam::kRrelu:
      return c.Backward("_backward_LeakyReLU", {head, value, c.output(kMask)});
    default:
      return c.Backward("_backward_LeakyReLU", {head, value});
  }
}

OpSchema::Names Inputs(const OpCall& call) {
  if (TypeOf(call) == LeakyReluParam::kPrelu) return {"data", "gamma"};
  return {"data"};
}

OpSchema::Names BackwardInputs(const OpCall& call) {
  const char* value = call.param<LeakyReluParam>().gradient_takes_data() ? "data" : "output";
  switch (TypeOf(call)) {
    case LeakyReluParam::kPrelu:
      return {"ograd", value, "gamma"};
    case LeakyReluParam::kRrelu:
      return {"ograd", value, "mask"};
    default:
      return {"ograd", value};
  }
}

COOPER_REGISTER_OP(LeakyReLU)
    .Describe(
        "x where x > 0, else slope * x (leaky), gamma * x (prelu), a random slope times x (rrelu) "
        "or "
        "slope * (exp(x) - 1) (elu, and scaled: selu); gelu is x times the normal distribution's "
        "integral up to x.")
    .Alias("_npx_leaky_relu")
    .Param<LeakyReluParam>()
    .Inputs(Inputs)
    .Outputs([](const OpCall& call) -> OpSchema::Names {
      if (TypeOf(call) == LeakyReluParam::kRrelu) return {"output", "mask"};
      return {"output"};
    })
    .VariableAttrs([](const OpCall&, int input) -> AttrMap {
      if (input != 1) return {};
      return {{"__init__", "[\"Constant\", {\"value\": 0.25}]"}};  // prelu's gamma
    })
    .Shape(LeakyReluShape)
    .Type(SameType)
    .Gradient(LeakyReluGradient)
    .InPlace({{0, 0}})
    .Random()
    .Kind(OpKind::kActivation)
    .Summary("act_type");

COOPER_REGISTER_OP(_backward_LeakyReLU)
    .Describe("Gradients of LeakyReLU with respect to data and gamma.")
    .Param<LeakyReluParam>()
    .Inputs(BackwardInputs)
    .Outputs(Inputs)
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
