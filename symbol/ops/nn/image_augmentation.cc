// Operators that change images before a network. MXNet: src/operator/image/image_random.cc,
// crop.cc, resize.cc.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/image_augmentation_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

// Checks that a shape is that of images with 1 or 3 channels, if it is known; of one image unless
// `batches`.
absl::Status CheckImages(const PartialShape& data, bool batches) {
  if (!data.rank_known()) return absl::OkStatus();
  const int rank = data.rank();
  const bool has_rank = rank == 3 || (batches && rank == 4);
  if (has_rank && (!data.dim_known(rank - 1) || data[rank - 1] == 1 || data[rank - 1] == 3)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "input 'data' ", data.ToString(), ", expected (height, width, channels)",
      batches ? " or (batch_size, height, width, channels)" : "", " with 1 or 3 channels"));
}

absl::Status ImageShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SameShape(c));
  return CheckImages(c.input(0), /*batches=*/false);
}

// Gives the output data's shape with another height and width.
absl::Status SetSize(ShapeContext& c, int64_t height, int64_t width, const char* why) {
  PartialShape shape = c.input(0);
  shape[shape.rank() - 3] = height;
  shape[shape.rank() - 2] = width;
  return c.SetOutput(0, shape, why);
}

absl::Status CropShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  COOPER_RETURN_IF_ERROR(CheckImages(data, /*batches=*/true));
  if (!data.rank_known()) return absl::OkStatus();
  const auto& param = c.param<ImageCropParam>();
  const int64_t rows = data[data.rank() - 3], columns = data[data.rank() - 2];
  const int64_t bottom = ExtentSum(param.y, param.height);
  const int64_t right = ExtentSum(param.x, param.width);
  if ((rows != kUnknownDim && bottom > rows) || (columns != kUnknownDim && right > columns)) {
    return absl::InvalidArgumentError(absl::StrCat("the crop ends at row ", bottom, " and column ",
                                                   right, ", beyond input 'data' ",
                                                   data.ToString()));
  }
  return SetSize(c, param.height, param.width, "height and width");
}

absl::Status ResizeShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  if (data.rank_known() && data.rank() != 3 && data.rank() != 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input 'data' ", data.ToString(),
        ", expected (height, width, channels) or (batch_size, height, width, channels)"));
  }
  const auto& param = c.param<ImageResizeParam>();
  const std::vector<int64_t>& size = param.size;
  constexpr int64_t kMaxSize = int64_t{1} << 30;  // products of two fit int64
  for (int64_t extent : size) {
    if (extent < 1 || extent > kMaxSize || size.size() > 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("size is ", PrintParamText(size), ", expected one or two numbers above 0"));
    }
  }
  if (size.empty()) return absl::InvalidArgumentError("size is missing");
  if (!data.rank_known()) return absl::OkStatus();
  if (size.size() == 2) return SetSize(c, size[1], size[0], "size");
  if (!param.keep_ratio) return SetSize(c, size[0], size[0], "size");
  const int64_t rows = data[data.rank() - 3], columns = data[data.rank() - 2];
  if (rows == kUnknownDim || columns == kUnknownDim) return absl::OkStatus();
  if (rows == 0 || columns == 0 || rows > kMaxSize || columns > kMaxSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", data.ToString(), " has no ratio that can be kept"));
  }
  return rows > columns ? SetSize(c, rows * size[0] / columns, size[0], "size, by keep_ratio")
                        : SetSize(c, size[0], columns * size[0] / rows, "size, by keep_ratio");
}

Entries HeadGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  return std::vector<NodeEntry>{head};
}

COOPER_REGISTER_OP(_image_crop)
    .Describe("A part of images.")
    .Alias("_npx__image_crop")
    .Param<ImageCropParam>()
    .Inputs({"data"})
    .Shape(CropShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      return c.Backward("_backward_image_crop", {head});
    });

COOPER_REGISTER_OP(_backward_image_crop)
    .Describe("Gradient of _image_crop.")
    .Param<ImageCropParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_REGISTER_OP(_image_resize)
    .Describe("Images of another size; no gradient, as in MXNet.")
    .Alias("_npx__image_resize")
    .Param<ImageResizeParam>()
    .Inputs({"data"})
    .Shape(ResizeShape)
    .Type(SameType);

// A flip is its own inverse. MXNet passes the head gradient on as it is.
template <const char* kName>
Entries FlipGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(const NodeEntry gradient, c.Call(kName, {head}));
  return std::vector<NodeEntry>{gradient};
}
constexpr char kFlipLeftRight[] = "_image_flip_left_right";
constexpr char kFlipTopBottom[] = "_image_flip_top_bottom";

COOPER_REGISTER_OP(_image_flip_left_right)
    .Describe("The image with its columns in the opposite order.")
    .Alias("_npx__image_flip_left_right")
    .Inputs({"data"})
    .Shape(ImageShape)
    .Type(SameType)
    .Gradient(FlipGradient<kFlipLeftRight>);

COOPER_REGISTER_OP(_image_flip_top_bottom)
    .Describe("The image with its rows in the opposite order.")
    .Alias("_npx__image_flip_top_bottom")
    .Inputs({"data"})
    .Shape(ImageShape)
    .Type(SameType)
    .Gradient(FlipGradient<kFlipTopBottom>);

// The other operators pass the head gradient on as it is, as in MXNet.
OpBuilder ColourOp(const char* name, const char* doc) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Alias(absl::StrCat("_npx_", name))
      .Inputs({"data"})
      .Shape(ImageShape)
      .Type(SameType)
      .Gradient(HeadGradient);
  return builder;
}

const OpRegistrar kRandomFlipLeftRight =
    ColourOp("_image_random_flip_left_right", "The image, or that with its columns reversed.")
        .Random();
const OpRegistrar kRandomFlipTopBottom =
    ColourOp("_image_random_flip_top_bottom", "The image, or that with its rows reversed.")
        .Random();
const OpRegistrar kRandomBrightness =
    ColourOp("_image_random_brightness", "The image with another brightness.")
        .Param<ImageFactorParam>()
        .Random();
const OpRegistrar kRandomContrast =
    ColourOp("_image_random_contrast", "The image with another contrast.")
        .Param<ImageFactorParam>()
        .Random();
const OpRegistrar kRandomSaturation =
    ColourOp("_image_random_saturation", "The image with another saturation.")
        .Param<ImageFactorParam>()
        .Random();
const OpRegistrar kRandomHue =
    ColourOp("_image_random_hue", "The image with other hues.").Param<ImageFactorParam>().Random();
const OpRegistrar kRandomColourJitter =
    ColourOp("_image_random_color_jitter",
             "The image with another brightness, contrast, saturation and other hues.")
        .Param<ImageJitterParam>()
        .Random();
const OpRegistrar kAdjustLighting =
    ColourOp("_image_adjust_lighting", "The image with other colours, as AlexNet varies them.")
        .Param<ImageLightingParam>()
        .Shape([](ShapeContext& c) -> absl::Status {
          const size_t count = c.param<ImageLightingParam>().alpha.size();
          if (count == 3) return ImageShape(c);
          return absl::InvalidArgumentError(
              absl::StrCat("alpha has ", count, " numbers, expected 3"));
        });
const OpRegistrar kRandomLighting =
    ColourOp("_image_random_lighting", "The image with other colours, as AlexNet varies them.")
        .Param<ImageRandomLightingParam>()
        .Random();

COOPER_OP_EXAMPLE(_image_crop, {{"x", "1"}, {"y", "2"}, {"width", "4"}, {"height", "3"}},
                  {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_resize, {{"size", "(4, 3)"}}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_flip_left_right, {}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_flip_top_bottom, {}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_flip_left_right, {}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_flip_top_bottom, {}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_brightness, {{"min_factor", "0.5"}, {"max_factor", "1.5"}},
                  {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_contrast, {{"min_factor", "0.5"}, {"max_factor", "1.5"}},
                  {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_saturation, {{"min_factor", "0.5"}, {"max_factor", "1.5"}},
                  {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_hue, {{"min_factor", "0"}, {"max_factor", "0.5"}}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(
    _image_random_color_jitter,
    {{"brightness", "0.4"}, {"contrast", "0.4"}, {"saturation", "0.4"}, {"hue", "0.1"}},
    {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_adjust_lighting, {{"alpha", "(0.1, 0.1, 0.1)"}}, {{6, 8, 3}});
COOPER_OP_EXAMPLE(_image_random_lighting, {}, {{6, 8, 3}});

}  // namespace
}  // namespace cooper
