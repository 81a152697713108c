// Averages regions of interest with interpolation between pixels (He et al., Mask R-CNN, 2017).
// MXNet: src/operator/contrib/roi_align.cc.

#include <cstdint>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/roi_align_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum RoiAlignArrays::Input;

// Shape rule: data (batch_size, channels, height, width), rois (regions, 5): sample, x1, y1, x2,
// y2; output (regions, channels, pooled height, pooled width).
absl::Status RoiAlignShape(ShapeContext& c) {
  const auto& param = c.param<RoiAlignParam>();
  const auto& size = param.pooled_size;
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    return absl::InvalidArgumentError("pooled_size has to be two numbers above 0");
  }
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, PartialShape::OfRank(4), "(batch_size, channels, height, width)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kRois, {kUnknownDim, 5}, "(regions, 5)"));
  int64_t channels = c.input(kData)[1];
  if (param.position_sensitive && channels != kUnknownDim) {
    const int64_t bins = ExtentProduct(size[0], size[1]);
    if (channels % bins != 0) {
      return absl::InvalidArgumentError(absl::StrCat("input 'data' has ", channels,
                                                     " channels, expected a multiple of the ", bins,
                                                     " bins of pooled_size"));
    }
    channels /= bins;
  }
  return c.SetOutput(0, {c.input(kRois)[0], channels, size[0], size[1]});
}

absl::StatusOr<std::vector<NodeEntry>> RoiAlignGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_ROIAlign", {head, c.input(kRois)});
}

COOPER_REGISTER_OP(_contrib_ROIAlign)
    .Describe(
        "The means of points in a fixed number of bins of each region, interpolated between "
        "pixels. A region of a sample that is not in the batch is zeros.")
    .Param<RoiAlignParam>()
    .Inputs({"data", "rois"})
    .Shape(RoiAlignShape)
    .Type(SameType)
    .Gradient(RoiAlignGradient)
    .Kind(OpKind::kPooling);

COOPER_REGISTER_OP(_backward_ROIAlign)
    .Describe("Gradient of _contrib_ROIAlign with respect to data.")
    .Param<RoiAlignParam>()
    .Inputs({"ograd", "rois"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_contrib_ROIAlign, {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}},
                  {{1, 3, 8, 8}, {2, 5}});

}  // namespace
}  // namespace cooper
