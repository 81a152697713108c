// softmax, softmin, log_softmax and SoftmaxActivation. MXNet: src/operator/nn/softmax.cc and the
// files beside it.

#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/softmax_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum SoftmaxArrays::Input;

OpSchema::Names SoftmaxInputs(const OpCall& call) {
  if (call.param<SoftmaxParam>().has_length()) return {"data", "length"};
  return {"data"};
}

// Shape rule: length has data's shape without `axis`; (1,) if no axis remains.
absl::Status SoftmaxShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  COOPER_ASSIGN_OR_RETURN(int axis, NormalizeAxis(param.axis, data.rank()));
  if (!param.has_length()) return absl::OkStatus();
  if (data.rank() == 1) return c.SetInput(kLength, {1});
  PartialShape length = PartialShape::OfRank(data.rank() - 1);
  for (int i = 0; i < length.rank(); ++i) length[i] = data[i < axis ? i : i + 1];
  return c.SetInput(kLength, length, "data's shape without the axis");
}

absl::Status SoftmaxType(TypeContext& c) {
  const auto& param = c.param<SoftmaxParam>();
  if (param.dtype.has_value()) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, param.dtype));
    return c.input(kData) ? absl::OkStatus() : c.SetInput(kData, param.dtype);
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  return c.SetInput(kData, c.output(0));
}

absl::StatusOr<std::vector<NodeEntry>> SoftmaxGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  std::vector<NodeEntry> inputs = {head, c.output(0)};
  const bool has_length = c.param<SoftmaxParam>().has_length();
  if (has_length) inputs.push_back(c.input(kLength));
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()), std::move(inputs));
}

OpSchema::Names BackwardInputs(const OpCall& call) {
  if (call.param<SoftmaxParam>().has_length()) return {"ograd", "output", "length"};
  return {"ograd", "output"};
}

OpBuilder Forward(const char* name, const char* doc) {
  return OpBuilder(name)
      .Describe(doc)
      .Param<SoftmaxParam>()
      .Inputs(SoftmaxInputs)
      .Shape(SoftmaxShape)
      .Type(SoftmaxType)
      .Gradient(SoftmaxGradient)
      .InPlace({{0, 0}});
}

OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Describe("Gradient with respect to data.")
      .Param<SoftmaxParam>()
      .Inputs(BackwardInputs)
      .Outputs({"data"})
      .Shape(GradientShape)
      .Type(GradientType)
      .InPlace({{0, 0}, {1, 0}});
}

absl::Status SoftmaxActivationShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SameShape(c));
  const bool channel = c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel;
  if (!c.input(0).rank_known() || c.input(0).rank() > (channel ? 1 : 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 'data' has shape ", c.input(0).ToString(),
                                                 ", expected at least ", channel ? 2 : 1,
                                                 channel ? " axes in mode channel" : " axis"));
}

absl::StatusOr<std::vector<NodeEntry>> SoftmaxActivationGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_SoftmaxActivation", {head, c.output(0)});
}

const OpRegistrar kRegistrars[] = {
    Forward("softmax", "exp(data / temperature) over its sum along axis.")
        .Alias("_npx_softmax")
        .Kind(OpKind::kLoss),
    Backward("_backward_softmax"),
    Forward("softmin", "softmax of -data."),
    Backward("_backward_softmin"),
    Forward("log_softmax", "The logarithm of softmax.")
        .Alias("_npx_log_softmax")
        .Kind(OpKind::kLoss),
    Backward("_backward_log_softmax"),
};

COOPER_REGISTER_OP(SoftmaxActivation)
    .Describe(
        "softmax over the last axis, or over axis 1 in mode channel. The gradient is always that "
        "over axis 1, as in MXNet 1.9.1: of more than two axes use softmax. Deprecated.")
    .Param<SoftmaxActivationParam>()
    .Inputs({"data"})
    .Shape(SoftmaxActivationShape)
    .Type(SameType)
    .Gradient(SoftmaxActivationGradient)
    .InPlace({{0, 0}})
    .Kind(OpKind::kLoss);

COOPER_REGISTER_OP(_backward_SoftmaxActivation)
    .Describe("Gradient of SoftmaxActivation.")
    .Param<SoftmaxActivationParam>()
    .Inputs({"ograd", "output"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{0, 0}, {1, 0}});

}  // namespace
}  // namespace cooper
