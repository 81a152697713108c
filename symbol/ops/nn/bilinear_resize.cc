// Resizes images to another height and width. MXNet: src/operator/contrib/bilinear_resize.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/bilinear_resize_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BilinearResizeArrays::Input;

std::vector<std::string> BilinearResizeInputs(const OpCall& call) {
  if (call.param<BilinearResizeParam>().mode == ResizeMode::kLike) return {"data", "like"};
  return {"data"};
}

// Returns extent * scale without its fraction, computed in float as in MXNet: 100 * 0.57 is 57.
absl::StatusOr<int64_t> Scaled(int64_t extent, double scale) {
  const float scaled = static_cast<float>(extent) * static_cast<float>(scale);
  constexpr float kLimit = 1 << 30;
  if (!(scaled > -kLimit && scaled < kLimit)) {
    return absl::InvalidArgumentError(
        absl::StrCat(extent, " * ", scale, " is not a number of pixels"));
  }
  return static_cast<int64_t>(scaled);
}

// Returns the new extent of an axis. `size` and `scale` are the parameters of this axis.
absl::StatusOr<int64_t> ResizedExtent(const BilinearResizeParam& p, int64_t extent, int64_t size,
                                      const std::optional<double>& scale) {
  const bool odd = extent % 2 != 0;
  switch (p.mode) {
    case ResizeMode::kSize:
      if (!p.scale_height) return size;
      return Scaled(extent, *scale);
    case ResizeMode::kOddScale: {
      if (!odd) return Scaled(extent, *scale);
      COOPER_ASSIGN_OR_RETURN(const int64_t scaled, Scaled(extent - 1, *scale));
      return scaled + 1;
    }
    case ResizeMode::kToEvenDown:
      return odd ? extent - 1 : extent;
    case ResizeMode::kToEvenUp:
      return odd ? ExtentSum(extent, 1) : extent;
    case ResizeMode::kToOddDown:
      return odd ? extent : extent - 1;
    case ResizeMode::kToOddUp:
      return odd ? extent : extent + 1;
    case ResizeMode::kLike:
      return extent;
  }
  return extent;
}

absl::Status CheckScales(const BilinearResizeParam& p) {
  const bool needed =
      p.mode == ResizeMode::kOddScale || (p.mode == ResizeMode::kSize && p.scale_height);
  if (needed && !(p.scale_height && p.scale_width)) {
    return absl::InvalidArgumentError(
        "scale_height and scale_width: one is given, expected both or, in mode size, none");
  }
  return absl::OkStatus();
}

absl::Status CheckPixels(const char* name, const PartialShape& shape) {
  if (shape[2] != 0 && shape[3] != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input '", name, "' ", shape.ToString(), " has no pixels"));
}

// Shape rule: data (batch_size, channels, h, w), output (batch_size, channels, height, width).
absl::Status BilinearResizeShape(ShapeContext& c) {
  const auto& p = c.param<BilinearResizeParam>();
  constexpr char kLayout[] = "(batch_size, channels, height, width)";
  constexpr int64_t kAny = kUnknownDim;
  COOPER_RETURN_IF_ERROR(CheckScales(p));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, {kAny, kAny, kAny, kAny}, kLayout));
  COOPER_RETURN_IF_ERROR(
      c.SetOutput(0, {c.input(kData)[0], c.input(kData)[1], kAny, kAny}, kLayout));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, {c.output(0)[0], c.output(0)[1], kAny, kAny}, "the output's"));
  COOPER_RETURN_IF_ERROR(CheckPixels("data", c.input(kData)));
  if (p.mode == ResizeMode::kLike) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kLike, {kAny, kAny, kAny, kAny}, kLayout));
    COOPER_RETURN_IF_ERROR(CheckPixels("like", c.input(kLike)));
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(0, {c.input(kData)[0], c.input(kData)[1], c.input(kLike)[2], c.input(kLike)[3]},
                    "(batch_size and channels of data, height and width of like)"));
    return c.SetInput(kLike, {kAny, kAny, c.output(0)[2], c.output(0)[3]},
                      "(.., .., the output's)");
  }
  PartialShape resized = {c.input(kData)[0], c.input(kData)[1], kAny, kAny};
  for (int axis : {2, 3}) {
    if (!c.input(kData).dim_known(axis)) {
      if (p.mode != ResizeMode::kSize || p.scale_height) continue;
    }
    COOPER_ASSIGN_OR_RETURN(resized[axis],
                            ResizedExtent(p, c.input(kData)[axis], axis == 2 ? p.height : p.width,
                                          axis == 2 ? p.scale_height : p.scale_width));
    if (resized[axis] < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(axis == 2 ? "height" : "width", " of output: input 'data' ",
                       c.input(kData).ToString(), " becomes ", resized[axis], ", expected >= 1"));
    }
  }
  return c.SetOutput(0, resized, "(batch_size, channels, height and width by the parameters)");
}

// Type rule: the dtype of like is arbitrary: only its shape is used.
absl::Status BilinearResizeType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  if (c.num_inputs() == 1 || c.input(kLike)) return absl::OkStatus();
  return c.SetInput(kLike, c.input(kData));
}

// Gradient rule: no gradient flows to like.
absl::StatusOr<std::vector<NodeEntry>> BilinearResizeGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  return c.Backward("_backward_contrib_BilinearResize2D", {head});
}

COOPER_REGISTER_OP(_contrib_BilinearResize2D)
    .Describe("data with another height and width, interpolated between its pixels.")
    .Param<BilinearResizeParam>()
    .Inputs(BilinearResizeInputs)
    .Shape(BilinearResizeShape)
    .Type(BilinearResizeType)
    .Gradient(BilinearResizeGradient)
    .Summary("mode");

COOPER_REGISTER_OP(_backward_contrib_BilinearResize2D)
    .Describe("Gradient of _contrib_BilinearResize2D with respect to data.")
    .Param<BilinearResizeParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
