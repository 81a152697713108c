// Divides by a Euclidean norm, and normalizes local responses. MXNet:
// src/operator/l2_normalization.cc, src/operator/nn/lrn.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/norm_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

enum Output { kOutput, kNorm };

// Shape rule: norm: (batch_size,) in mode instance, data's shape with one channel in mode channel,
// (batch_size, channels) in mode spatial.
absl::Status L2NormalizationShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(kOutput)));
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  const auto mode = c.param<L2NormalizationParam>().mode;
  const int least = mode == L2NormalizationParam::kInstance ? 1 : 3;
  if (data.rank() < least) {
    return absl::InvalidArgumentError(absl::StrCat("input 'data' has shape ", data.ToString(),
                                                   ", expected at least ", least,
                                                   " axes in this mode"));
  }
  if (mode == L2NormalizationParam::kInstance) return c.SetOutput(kNorm, {data[0]});
  if (mode == L2NormalizationParam::kSpatial) return c.SetOutput(kNorm, {data[0], data[1]});
  PartialShape norm = data;
  norm[1] = 1;
  return c.SetOutput(kNorm, norm);
}

absl::StatusOr<std::vector<NodeEntry>> L2NormalizationGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  return c.Backward("_backward_L2Normalization", {head, c.output(kOutput), c.output(kNorm)});
}

// Shape rule: data (batch_size, channels, height, width).
absl::Status LrnShape(ShapeContext& c) {
  if (c.param<LrnParam>().nsize % 2 == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("nsize is ", c.param<LrnParam>().nsize, ", expected an odd number"));
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(4), "4 axes: batch, channels, 2 more"));
  return SameShape(c);
}

absl::StatusOr<std::vector<NodeEntry>> LrnGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  return c.Backward("_backward_LRN", {head, c.input(0), c.output(kNorm)});
}

int OneOutput(const OpCall&) { return 1; }

COOPER_REGISTER_OP(L2Normalization)
    .Describe("data / sqrt(sum of squares + eps).")
    .Param<L2NormalizationParam>()
    .Inputs({"data"})
    .Outputs({"output", "norm"})
    .VisibleOutputs(OneOutput)
    .Shape(L2NormalizationShape)
    .Type(SameType)
    .Gradient(L2NormalizationGradient)
    .InPlace({{0, 0}})
    .Kind(OpKind::kNormalization);

COOPER_REGISTER_OP(_backward_L2Normalization)
    .Describe("Gradient of L2Normalization.")
    .Param<L2NormalizationParam>()
    .Inputs({"ograd", "output", "norm"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{0, 0}, {1, 0}});

COOPER_REGISTER_OP(LRN)
    .Describe(
        "data / (knorm + alpha / nsize * sum of squares over nsize neighbouring channels)^beta.")
    .Param<LrnParam>()
    .Inputs({"data"})
    .Outputs({"output", "tmp_norm"})
    .VisibleOutputs(OneOutput)
    .Shape(LrnShape)
    .Type(SameType)
    .Gradient(LrnGradient)
    .Kind(OpKind::kNormalization);

COOPER_REGISTER_OP(_backward_LRN)
    .Describe("Gradient of LRN.")
    .Param<LrnParam>()
    .Inputs({"ograd", "data", "tmp_norm"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
