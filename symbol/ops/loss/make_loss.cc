// Makes its input a loss. MXNet: src/operator/make_loss.cc.

#include "ndarray/status_macros.h"
#include "symbol/gradient_context.h"
#include "symbol/op.h"
#include "symbol/ops/loss/loss_param.h"
#include "symbol/shape_context.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

// Only counting valid elements needs data itself.
bool NeedsData(const OpCall& call) {
  return call.param<MakeLossParam>().normalization == Normalization::kValid;
}

absl::StatusOr<std::vector<NodeEntry>> MakeLossGradient(GradientContext& c) {
  std::vector<NodeEntry> inputs;
  if (NeedsData(c.call())) inputs.push_back(c.input(0));
  return c.Backward("_backward_MakeLoss", std::move(inputs));
}

COOPER_REGISTER_OP(MakeLoss)
    .Describe("data, whose gradient is grad_scale in every element: data is the loss itself.")
    .Param<MakeLossParam>()
    .Inputs({"data"})
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(MakeLossGradient)
    .InPlace({{0, 0}})
    .View()
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_backward_MakeLoss)
    .Describe("Gradient of MakeLoss with respect to data.")
    .Param<MakeLossParam>()
    .Inputs([](const OpCall& call) {
      return NeedsData(call) ? OpSchema::Names{"data"} : OpSchema::Names{};
    })
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
