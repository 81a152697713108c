// The operators that Gluon's ToTensor and Normalize export. MXNet:
// src/operator/image/image_random.cc, in which _image_to_tensor has the gradient of a copy; here it
// has the correct one.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/image_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum ImageArrays::Input;

// Checks that the shape is that of an image or of a batch of images.
absl::Status CheckRank(const PartialShape& shape, const char* layout) {
  if (!shape.rank_known() || shape.rank() == 3 || shape.rank() == 4) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 'data' ", shape.ToString(), ", expected (",
                                                 layout, ") or (batch_size, ", layout, ")"));
}

// Returns the shape with its last three axes permuted to `first`, `second`, `third`.
PartialShape Reordered(const PartialShape& shape, int first, int second, int third) {
  PartialShape reordered = PartialShape::OfRank(shape.rank());
  const int at = shape.rank() - 3;
  if (at == 1) reordered[0] = shape[0];
  reordered[at] = shape[at + first];
  reordered[at + 1] = shape[at + second];
  reordered[at + 2] = shape[at + third];
  return reordered;
}

absl::Status ToTensorShape(ShapeContext& c) {
  constexpr char kImage[] = "height, width, channels";
  COOPER_RETURN_IF_ERROR(CheckRank(c.input(kData), kImage));
  if (c.input(kData).rank_known()) {
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(0, Reordered(c.input(kData), 2, 0, 1), "(channels, height, width) of data"));
  }
  if (!c.output(0).rank_known() || c.output(0).rank() < 3 || c.output(0).rank() > 4) {
    return absl::OkStatus();
  }
  return c.SetInput(kData, Reordered(c.output(0), 1, 2, 0), "(height, width, channels) of output");
}

// Type rule: the input may have any dtype.
absl::Status ToTensorType(TypeContext& c) { return c.SetOutput(0, DType::kFloat32); }

absl::StatusOr<std::vector<NodeEntry>> ToTensorGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  return c.Backward("_backward_image_to_tensor", {head});
}

absl::Status CheckCount(const char* name, const std::vector<float>& values, int64_t channels) {
  const auto count = static_cast<int64_t>(values.size());
  if (count == 1 || count == channels) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " has ", count, " numbers, expected 1 or ",
                                                 channels, ", one for each channel of data"));
}

absl::Status NormalizeShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SameShape(c));
  const PartialShape& data = c.input(kData);
  COOPER_RETURN_IF_ERROR(CheckRank(data, "channels, height, width"));
  if (!data.rank_known() || data[data.rank() - 3] == kUnknownDim) return absl::OkStatus();
  const int64_t channels = data[data.rank() - 3];
  if (channels != 1 && channels != 3) {
    return absl::InvalidArgumentError(absl::StrCat("input 'data' ", data.ToString(), " has ",
                                                   channels, " channels, expected 1 or 3"));
  }
  const auto& p = c.param<ImageNormalizeParam>();
  COOPER_RETURN_IF_ERROR(CheckCount("mean", p.mean, channels));
  return CheckCount("std", p.std, channels);
}

absl::StatusOr<std::vector<NodeEntry>> NormalizeGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  return c.Backward("_backward_image_normalize", {head});
}

COOPER_REGISTER_OP(_image_to_tensor)
    .Describe(
        "Images (height, width, channels) of numbers from 0 to 255 as (channels, height, "
        "width) from 0 to 1.")
    .Alias("_npx__image_to_tensor")
    .Inputs({"data"})
    .Shape(ToTensorShape)
    .Type(ToTensorType)
    .Gradient(ToTensorGradient);

COOPER_REGISTER_OP(_backward_image_to_tensor)
    .Describe("Gradient of _image_to_tensor.")
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(_image_normalize)
    .Describe("(data - mean) / std of images (channels, height, width) with 1 or 3 channels.")
    .Alias("_npx__image_normalize")
    .Param<ImageNormalizeParam>()
    .Inputs({"data"})
    .Shape(NormalizeShape)
    .Type(SameType)
    .Gradient(NormalizeGradient)
    .InPlace({{kData, 0}});

COOPER_REGISTER_OP(_backward_image_normalize)
    .Describe("Gradient of _image_normalize.")
    .Param<ImageNormalizeParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{ImageGradientArrays::kOgrad, 0}});

COOPER_OP_EXAMPLE(_image_to_tensor, {}, {{5, 4, 3}});
COOPER_OP_EXAMPLE(_image_normalize, {}, {{3, 4, 5}});

}  // namespace
}  // namespace cooper
