// Cross entropy of softmax(data) with label, summed over the batch. MXNet:
// src/operator/loss_binary_op.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/loss_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum LossArrays::Input;

// Shape rule: data (batch_size, classes), label (batch_size,), output (1,).
absl::Status CrossEntropyShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, {1}));
  if (!c.input(kData).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, {kUnknownDim, kUnknownDim}, "(batch_size, classes)"));
  return c.SetInput(kLabel, {c.input(kData)[0]}, "(batch_size,)");
}

absl::StatusOr<std::vector<NodeEntry>> CrossEntropyGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_softmax_cross_entropy", {head, c.input(kData), c.input(kLabel)});
}

COOPER_REGISTER_OP(softmax_cross_entropy)
    .Describe("-sum over the batch of log(max(softmax(data)[label], 1e-8)).")
    .Inputs({"data", "label"})
    .Shape(CrossEntropyShape)
    .Type(SameType)
    .Gradient(CrossEntropyGradient)
    .Kind(OpKind::kLoss);

COOPER_REGISTER_OP(_backward_softmax_cross_entropy)
    .Describe("Gradient of softmax_cross_entropy with respect to data.")
    .Inputs({"ograd", "data", "label"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{1, 0}});

}  // namespace
}  // namespace cooper
