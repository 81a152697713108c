// Pools regions of interest with channels for each position. MXNet:
// src/operator/contrib/psroi_pooling.cc.

#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/position_sensitive_shapes.h"
#include "symbol/ops/detection/psroi_pooling_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum PsroiPoolingArrays::Input;

// Shape rule: data (batch_size, channels, height, width), rois (regions, 5); output (regions,
// output_dim, pooled_size, pooled_size).
absl::Status PsroiPoolingShape(ShapeContext& c) {
  const auto& param = c.param<PsroiPoolingParam>();
  COOPER_RETURN_IF_ERROR(SetPositionSensitiveInputs(c, param.output_dim, param.groups()));
  if (!c.input(kRois).rank_known()) return absl::OkStatus();
  return c.SetOutput(0, {c.input(kRois)[0], param.output_dim, param.pooled_size, param.pooled_size},
                     "(regions, output_dim, pooled_size, pooled_size)");
}

absl::StatusOr<std::vector<NodeEntry>> PsroiPoolingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward__contrib_PSROIPooling", {head, c.input(kRois)});
}

COOPER_REGISTER_OP(_contrib_PSROIPooling)
    .Describe(
        "The means of a fixed number of bins in each region, where each bin reads channels of its "
        "own.")
    .Param<PsroiPoolingParam>()
    .Inputs({"data", "rois"})
    .Shape(PsroiPoolingShape)
    .Type(SameType)
    .Gradient(PsroiPoolingGradient)
    .Kind(OpKind::kPooling);

COOPER_REGISTER_OP(_backward__contrib_PSROIPooling)
    .Describe("Gradient of _contrib_PSROIPooling with respect to data.")
    .Param<PsroiPoolingParam>()
    .Inputs({"ograd", "rois"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_contrib_PSROIPooling,
                  {{"spatial_scale", "1"}, {"output_dim", "2"}, {"pooled_size", "2"}},
                  {{1, 8, 9, 9}, {3, 5}});

}  // namespace
}  // namespace cooper
