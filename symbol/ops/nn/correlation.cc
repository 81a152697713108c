// Compares patches of two images. MXNet: src/operator/correlation.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/correlation_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: data1 and data2 (batch_size, channels, height, width), output (batch_size,
// displacements^2, positions, positions).
absl::Status CorrelationShape(ShapeContext& c) {
  const auto& param = c.param<CorrelationParam>();
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.input(1)));
  COOPER_RETURN_IF_ERROR(c.SetInput(1, c.input(0)));
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(4), "4 axes: batch, channels, 2 more"));
  const PartialShape& data = c.input(0);
  PartialShape output = {data[0], param.displacements() * param.displacements(), kUnknownDim,
                         kUnknownDim};
  for (int axis = 2; axis < 4; ++axis) {
    if (!data.dim_known(axis)) continue;
    // Number of elements that can be the centre of a patch of data1.
    const int64_t middles = ExtentSum(data[axis], 2 * param.pad_size) - 2 * param.border();
    if (middles <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " of input 'data1' ", data.ToString(),
                       " is too small for kernel_size and max_displacement"));
    }
    output[axis] = (middles - 1) / param.stride1 + 1;
  }
  return c.SetOutput(0, output);
}

absl::StatusOr<std::vector<NodeEntry>> CorrelationGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_Correlation", {head, c.input(0), c.input(1)});
}

COOPER_REGISTER_OP(Correlation)
    .Describe(
        "The mean product, or absolute difference, of each patch of data1 and the patches of data2 "
        "around its place: a channel for each displacement.")
    .Param<CorrelationParam>()
    .Inputs({"data1", "data2"})
    .Shape(CorrelationShape)
    .Type(SameType)
    .Gradient(CorrelationGradient);

COOPER_REGISTER_OP(_backward_Correlation)
    .Describe("Gradients of Correlation with respect to data1 and data2.")
    .Param<CorrelationParam>()
    .Inputs({"ograd", "data1", "data2"})
    .Outputs({"data1", "data2"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
