// IdentityAttachKLSparseReg: adds the gradient of a sparseness penalty to the gradient of its
// input. MXNet: src/operator/identity_attach_KL_sparse_reg.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/kl_sparse_reg_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum KLSparseRegArrays::Input;

// Shape rule: data and output (batch_size, units), moving_avg (units,).
absl::Status KlSparseRegShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  if (!c.input(kData).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, PartialShape::OfRank(2), "(batch_size, units)"));
  return c.SetInput(kMovingAvg, {c.input(kData)[1]}, "(units,)");
}

absl::StatusOr<std::vector<NodeEntry>> KlSparseRegGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_IdentityAttachKLSparseReg",
                    {head, c.input(kData), c.input(kMovingAvg)});
}

COOPER_REGISTER_OP(IdentityAttachKLSparseReg)
    .Describe(
        "data, a sigmoid's output. Its gradient grows by that of the Kullback-Leibler divergence "
        "between sparseness_target and the moving average of each unit.")
    .Param<KlSparseRegParam>()
    .Inputs({"data", "moving_avg"})
    .AuxInputs([](const OpCall&) { return std::vector<int>{kMovingAvg}; })
    .Shape(KlSparseRegShape)
    .Type(SameType)
    .Gradient(KlSparseRegGradient)
    .InPlace({{0, 0}});

COOPER_REGISTER_OP(_backward_IdentityAttachKLSparseReg)
    .Describe("Gradient of IdentityAttachKLSparseReg; updates the moving average.")
    .Param<KlSparseRegParam>()
    .Inputs({"ograd", "data", "moving_avg"})
    .AuxInputs([](const OpCall&) { return std::vector<int>{2}; })
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{0, 0}});

}  // namespace
}  // namespace cooper
