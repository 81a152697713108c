// LayerNorm, GroupNorm and InstanceNorm: normalization by mean and variance of each sample's own
// elements. MXNet: src/operator/nn/layer_norm.cc, group_norm.cc, src/operator/instance_norm.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/norm_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum LayerNormArrays::Input;
using enum LayerNormArrays::Output;

absl::Status SetGammaAndBeta(ShapeContext& c, int64_t extent, const char* why) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kGamma, {extent}, why));
  return c.SetInput(kBeta, {extent}, why);
}

absl::Status SetMoments(ShapeContext& c, const PartialShape& moments) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kMean, moments));
  return c.SetOutput(kStd, moments);
}

// Shape rule: gamma and beta have data's extent of `axis`, mean and std data's shape with 1 there.
absl::Status LayerNormShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  PartialShape moments = c.input(kData);
  if (!moments.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(int axis, NormalizeAxis(c.param<LayerNormParam>().axis, moments.rank()));
  COOPER_RETURN_IF_ERROR(SetGammaAndBeta(c, moments[axis], "(extent of axis,)"));
  moments[axis] = 1;
  return SetMoments(c, moments);
}

// Checks that data is (batch_size, channels, spatial...) with at least one spatial axis.
absl::Status CheckImage(const PartialShape& data) {
  if (data.rank() >= 3) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input 'data' has shape ", data.ToString(),
                   ", expected at least 3 axes: batch, channels and spatial ones"));
}

// Shape rule: gamma and beta are (num_groups,), mean and std (batch_size, num_groups).
absl::Status GroupNormShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  const int64_t groups = c.param<GroupNormParam>().num_groups;
  COOPER_RETURN_IF_ERROR(SetGammaAndBeta(c, groups, "(num_groups,)"));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckImage(data));
  if (data.dim_known(1) && data[1] % groups != 0) {
    return absl::InvalidArgumentError(absl::StrCat("num_groups ", groups, " does not divide the ",
                                                   data[1], " channels of input 'data' ",
                                                   data.ToString()));
  }
  return SetMoments(c, {data[0], groups});
}

// Shape rule: gamma and beta are (channels,), mean and std (batch_size, channels).
absl::Status InstanceNormShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckImage(data));
  COOPER_RETURN_IF_ERROR(SetGammaAndBeta(c, data[1], "(channels,)"));
  return SetMoments(c, {data[0], data[1]});
}

// Gradient rule: no gradient flows from mean and std.
absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  if (!c.has_head(kOutput)) return std::vector<NodeEntry>(3);
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()),
                    {head, c.input(kData), c.input(kGamma), c.output(kMean), c.output(kStd)});
}

template <typename Param>
OpBuilder Forward(const char* name, OpSchema::ShapeFn shape) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs({"data", "gamma", "beta"})
      .Outputs({"output", "mean", "std"})
      .Shape(std::move(shape))
      .Type(SameType)
      .Gradient(Gradient)
      .Kind(OpKind::kNormalization);
}

template <typename Param>
OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Describe("Gradients with respect to data, gamma and beta.")
      .Param<Param>()
      .Inputs({"ograd", "data", "gamma", "mean", "std"})
      .Outputs({"data", "gamma", "beta"})
      .Shape(GradientShape)
      .Type(GradientType);
}

template <typename Param>
int VisibleOutputs(const OpCall& call) {
  return call.param<Param>().output_mean_var ? 3 : 1;
}

const OpRegistrar kRegistrars[] = {
    Forward<LayerNormParam>("LayerNorm", LayerNormShape)
        .Describe("gamma * (data - mean) / sqrt(var + eps) + beta, over one axis.")
        .Alias("_npx_layer_norm")
        .VisibleOutputs(VisibleOutputs<LayerNormParam>),
    Backward<LayerNormParam>("_backward_LayerNorm"),
    Forward<GroupNormParam>("GroupNorm", GroupNormShape)
        .Describe("gamma * (data - mean) / sqrt(var + eps) + beta, over each group of channels.")
        .VisibleOutputs(VisibleOutputs<GroupNormParam>),
    Backward<GroupNormParam>("_backward_GroupNorm"),
    Forward<InstanceNormParam>("InstanceNorm", InstanceNormShape)
        .Describe("gamma * (data - mean) / sqrt(var + eps) + beta, over each channel.")
        .VisibleOutputs([](const OpCall&) { return 1; }),
    Backward<InstanceNormParam>("_backward_InstanceNorm"),
};

}  // namespace
}  // namespace cooper
