// Activation: functions selected by an attribute. MXNet: src/operator/nn/activation.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Gradient rule: all derivatives but softsign's are functions of the output, so the input need not
// be kept alive.
absl::StatusOr<std::vector<NodeEntry>> ActivationGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  const bool by_input = c.param<ActivationParam>().act_type == ActivationType::kSoftSign;
  return c.Backward("_backward_Activation", {head, by_input ? c.input(0) : c.output(0)});
}

COOPER_REGISTER_OP(Activation)
    .Describe("Applies the function act_type to every element.")
    .Param<ActivationParam>()
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(ActivationGradient)
    .InPlace({{0, 0}})
    .Elementwise()
    .Kind(OpKind::kActivation)
    .Summary("act_type");

COOPER_REGISTER_OP(_backward_Activation)
    .Describe("Gradient of Activation, from its output; of softsign from its input.")
    .Param<ActivationParam>()
    .Inputs({"ograd", "value"})
    .Shape(SameShape)
    .Type(SameType)
    .InPlace({{0, 0}, {1, 0}})
    .Elementwise();

}  // namespace
}  // namespace cooper
