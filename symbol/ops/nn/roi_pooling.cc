// Max-pools regions of interest to one size. MXNet: src/operator/roi_pooling.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/roi_pooling_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum ROIPoolingArrays::Input;

// Shape rule: data (batch_size, channels, height, width), rois (regions, 5): sample, x1, y1, x2,
// y2; output (regions, channels, pooled height, pooled width).
absl::Status RoiPoolingShape(ShapeContext& c) {
  const auto& size = c.param<RoiPoolingParam>().pooled_size;
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    return absl::InvalidArgumentError("pooled_size has to be two numbers above 0");
  }
  if (!c.input(kData).rank_known() || !c.input(kRois).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, PartialShape::OfRank(4), "4 axes: batch, channels, 2 more"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kRois, {kUnknownDim, 5}, "(regions, 5)"));
  return c.SetOutput(0, {c.input(kRois)[0], c.input(kData)[1], size[0], size[1]});
}

absl::StatusOr<std::vector<NodeEntry>> RoiPoolingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_ROIPooling", {head, c.input(kData), c.input(kRois)});
}

COOPER_REGISTER_OP(ROIPooling)
    .Describe("The maxima of a fixed number of bins in each region.")
    .Alias("_npx_roi_pooling")
    .Param<RoiPoolingParam>()
    .Inputs({"data", "rois"})
    .Shape(RoiPoolingShape)
    .Type(SameType)
    .Gradient(RoiPoolingGradient)
    .Kind(OpKind::kPooling);

COOPER_REGISTER_OP(_backward_ROIPooling)
    .Describe("Gradient of ROIPooling with respect to data.")
    .Param<RoiPoolingParam>()
    .Inputs({"ograd", "data", "rois"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(ROIPooling, {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}},
                  {{1, 3, 8, 8}, {2, 5}});

}  // namespace
}  // namespace cooper
