// Pools regions of interest in bins that the network moves. MXNet:
// src/operator/contrib/deformable_psroi_pooling.cc.

#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/deformable_psroi_pooling_param.h"
#include "symbol/ops/detection/position_sensitive_shapes.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum DeformablePsroiPoolingArrays::Input;

// Fails unless trans has twice as many channels as classes, which divide output_dim.
absl::Status CheckClasses(const DeformablePsroiPoolingParam& param, int64_t channels) {
  if (channels == kUnknownDim) return absl::OkStatus();
  if (channels >= 2 && channels % 2 == 0 && param.output_dim % (channels / 2) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("input 'trans' has ", channels,
                   " channels, expected two for each class, and classes to divide output_dim ",
                   param.output_dim));
}

// Shape rule: data (batch_size, channels, height, width), rois (regions, 5), trans (regions, 2 *
// classes, parts, parts); output (regions, output_dim, pooled_size, pooled_size).
absl::Status DeformablePsroiPoolingShape(ShapeContext& c) {
  const auto& param = c.param<DeformablePsroiPoolingParam>();
  COOPER_RETURN_IF_ERROR(SetPositionSensitiveInputs(c, param.output_dim, param.group_size));
  if (!c.input(kRois).rank_known()) return absl::OkStatus();
  const int64_t regions = c.input(kRois)[0];
  if (!param.no_trans) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kTrans, {regions, kUnknownDim, param.parts(), param.parts()},
                                      "(regions, 2 * classes, part_size, part_size)"));
    COOPER_RETURN_IF_ERROR(CheckClasses(param, c.input(kTrans)[1]));
  }
  return c.SetOutput(0, {regions, param.output_dim, param.pooled_size, param.pooled_size},
                     "(regions, output_dim, pooled_size, pooled_size)");
}

absl::StatusOr<std::vector<NodeEntry>> DeformablePsroiPoolingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  std::vector<NodeEntry> inputs = {head, c.input(kData), c.input(kRois)};
  if (!c.param<DeformablePsroiPoolingParam>().no_trans) inputs.push_back(c.input(kTrans));
  return c.Backward("_backward__contrib_DeformablePSROIPooling", inputs);
}

OpSchema::Names InputsAfter(const OpCall& call, OpSchema::Names names) {
  if (!call.param<DeformablePsroiPoolingParam>().no_trans) names.push_back("trans");
  return names;
}

COOPER_REGISTER_OP(_contrib_DeformablePSROIPooling)
    .Describe(
        "The means of points in a fixed number of bins in each region, where each bin is shifted "
        "by trans and reads channels of its own.")
    .Param<DeformablePsroiPoolingParam>()
    .Inputs([](const OpCall& call) {
      return InputsAfter(call, {"data", "rois"});
    })
    .Shape(DeformablePsroiPoolingShape)
    .Type(SameType)
    .Gradient(DeformablePsroiPoolingGradient)
    .Kind(OpKind::kPooling);

COOPER_REGISTER_OP(_backward__contrib_DeformablePSROIPooling)
    .Describe("Gradients of _contrib_DeformablePSROIPooling with respect to its inputs.")
    .Param<DeformablePsroiPoolingParam>()
    .Inputs([](const OpCall& call) {
      return InputsAfter(call, {"ograd", "data", "rois"});
    })
    .Outputs([](const OpCall& call) {
      return InputsAfter(call, {"data", "rois"});
    })
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(
    _contrib_DeformablePSROIPooling,
    {{"spatial_scale", "1"}, {"output_dim", "2"}, {"group_size", "2"}, {"pooled_size", "2"}},
    {{1, 8, 9, 9}, {3, 5}, {3, 2, 2, 2}});

}  // namespace
}  // namespace cooper
