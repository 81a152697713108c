// Averages over as many windows as the output has pixels. MXNet:
// src/operator/contrib/adaptive_avg_pooling.cc.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/adaptive_avg_pooling_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum AdaptiveAvgPoolingArrays::Input;

absl::Status CheckOutputSize(const AdaptiveAvgPoolingParam& p) {
  const bool is_any_small = p.extent(0) < 1 || p.extent(1) < 1;
  if (p.output_size.size() <= 2 && !is_any_small) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("output_size is (",
                                                 absl::StrJoin(p.output_size, ", "),
                                                 "), expected at most two numbers >= 1"));
}

// Shape rule: data (batch_size, channels, h, w), output (batch_size, channels, height, width).
absl::Status AdaptiveAvgPoolingShape(ShapeContext& c) {
  const auto& p = c.param<AdaptiveAvgPoolingParam>();
  constexpr char kLayout[] = "(batch_size, channels, height, width)";
  constexpr int64_t kAny = kUnknownDim;
  COOPER_RETURN_IF_ERROR(CheckOutputSize(p));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, {kAny, kAny, kAny, kAny}, kLayout));
  COOPER_RETURN_IF_ERROR(
      c.SetOutput(0, {c.input(kData)[0], c.input(kData)[1], p.extent(0), p.extent(1)},
                  "(batch_size and channels of data, height and width of output_size)"));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, {c.output(0)[0], c.output(0)[1], kAny, kAny}, "the output's"));
  if (c.input(kData)[2] != 0 && c.input(kData)[3] != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input 'data' ", c.input(kData).ToString(), " has no pixels"));
}

absl::StatusOr<std::vector<NodeEntry>> AdaptiveAvgPoolingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  return c.Backward("_backward_contrib_AdaptiveAvgPooling2D", {head});
}

COOPER_REGISTER_OP(_contrib_AdaptiveAvgPooling2D)
    .Describe("Averages of data over output_size windows, which cover it and may overlap.")
    .Param<AdaptiveAvgPoolingParam>()
    .Inputs({"data"})
    .Shape(AdaptiveAvgPoolingShape)
    .Type(SameType)
    .Gradient(AdaptiveAvgPoolingGradient)
    .Summary("output_size");

COOPER_REGISTER_OP(_backward_contrib_AdaptiveAvgPooling2D)
    .Describe("Gradient of _contrib_AdaptiveAvgPooling2D with respect to data.")
    .Param<AdaptiveAvgPoolingParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
