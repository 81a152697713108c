#include "io/images/augment/image_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/string_view.h"
#include "io/batch/invalid.h"
#include "io/images/augment/uniform_draws.h"
#include "io/images/imgproc/edit_image.h"
#include "io/images/imgproc/warp_image.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

struct Range {
  float least, most;

  bool is_one() const { return least == 1 && most == 1; }
  float Draw(RandomGenerator& random) const {
    return static_cast<float>(random.NextUniform()) * (most - least) + least;
  }
};

Range AspectRatios(const ImageTransformOptions& options) {
  const float most = options.max_aspect_ratio;
  if (options.min_aspect_ratio.has_value()) return {*options.min_aspect_ratio, most};
  return {1 - most, 1 + most};
}

InterMethod ChooseMethod(InterMethod method, const Image& image, int64_t height, int64_t width,
                         RandomGenerator& random) {
  if (method == InterMethod::kRandom) return static_cast<InterMethod>(random.NextBelow(5));
  if (method != InterMethod::kAuto) return method;
  if (height > image.height && width > image.width) return InterMethod::kCubic;
  if (height < image.height && width < image.width) return InterMethod::kArea;
  return InterMethod::kBilinear;
}

// Whether the image is rotated, sheared or scaled.
bool IsMapped(const ImageTransformOptions& options) {
  return options.max_rotate_angle > 0 || options.rotate > 0 || options.max_shear_ratio > 0 ||
         options.min_random_scale != 1 || options.max_random_scale != 1 ||
         options.min_img_size != 0 || options.max_img_size != 1e10f ||
         (!options.random_resized_crop && !AspectRatios(options).is_one());
}

// Rotates, shears and scales around the centre, with MXNet's rounding.
absl::StatusOr<Image> MapImage(const Image& image, const ImageTransformOptions& options,
                               RandomGenerator& random) {
  const float shear = Range{-options.max_shear_ratio, options.max_shear_ratio}.Draw(random);
  const int64_t any_angle =
      UniformInteger(-options.max_rotate_angle, options.max_rotate_angle, random);
  const int64_t angle = options.rotate > 0 ? options.rotate : any_angle;
  float scale = 1, ratio = 1;
  if (!options.random_resized_crop) {
    scale = Range{options.min_random_scale, options.max_random_scale}.Draw(random);
    ratio = AspectRatios(options).Draw(random);
  }
  const auto cosine = static_cast<float>(std::cos(static_cast<double>(angle) / 180.0 * M_PI));
  const auto sine = static_cast<float>(std::sin(static_cast<double>(angle) / 180.0 * M_PI));
  const float vertical = 2 * scale / (1 + ratio), horizontal = ratio * vertical;
  const auto rows = static_cast<float>(image.height), columns = static_cast<float>(image.width);
  const auto extent = [&](float size) {
    return std::max(options.min_img_size, std::min(options.max_img_size, scale * size));
  };
  const float height = extent(rows), width = extent(columns);
  const float xx = vertical * cosine - shear * sine * horizontal;
  const float xy = vertical * sine + shear * cosine * horizontal;
  const float yx = -sine * horizontal, yy = cosine * horizontal;
  const float x = (width - (xx * columns + xy * rows)) / 2;
  const float y = (height - (yx * columns + yy * rows)) / 2;
  constexpr auto kMost = static_cast<float>(kMaxImagePixels);  // more is refused by WarpImage
  const auto new_height = static_cast<int64_t>(std::min(height, kMost));
  const auto new_width = static_cast<int64_t>(std::min(width, kMost));
  return WarpImage(image, {xx, xy, x, yx, yy, y}, new_height, new_width,
                   ChooseMethod(options.inter_method, image, new_height, new_width, random),
                   options.fill_value);
}

// Returns a part of a random area and ratio in the size of data_shape; nullopt if none is found.
absl::StatusOr<std::optional<Image>> CropArea(const Image& image,
                                              const ImageTransformOptions& options,
                                              RandomGenerator& random) {
  const Range areas = {options.min_random_area, options.max_random_area};
  const Range ratios = AspectRatios(options);
  if (areas.is_one() && ratios.is_one()) return std::nullopt;
  const auto pixels = static_cast<float>(image.height * image.width);
  for (int trial = 0; trial < 10; ++trial) {
    const float area = pixels * areas.Draw(random), ratio = ratios.Draw(random);
    auto height = static_cast<int64_t>(std::round(std::sqrt(area / ratio)));
    auto width = static_cast<int64_t>(std::round(std::sqrt(area * ratio)));
    if (random.NextBelow(2) == 1) std::swap(height, width);
    const bool is_inside = height <= image.height && width <= image.width;
    if (!is_inside || height < 1 || width < 1) continue;
    const int64_t top = UniformInteger(0, image.height - height, random);
    const int64_t left = UniformInteger(0, image.width - width, random);
    return ResizeBy(CropImage(image, top, left, height, width), options.data_shape[1],
                    options.data_shape[2], options.inter_method, random);
  }
  return std::nullopt;
}

// Returns a part of the image, in the centre or at a random place.
Image CropSomewhere(const Image& image, int64_t height, int64_t width,
                    const ImageTransformOptions& options, RandomGenerator& random) {
  const auto begin = [&](int64_t spare) {
    return options.rand_crop ? UniformInteger(0, spare, random) : spare / 2;
  };
  const int64_t top = begin(image.height - height), left = begin(image.width - width);
  return CropImage(image, top, left, height, width);
}

absl::StatusOr<Image> CropSquare(const Image& image, const ImageTransformOptions& options,
                                 RandomGenerator& random) {
  if (std::min(image.height, image.width) < options.max_crop_size) {
    return Invalid("the image has ", image.height, " x ", image.width, " pixels, max_crop_size is ",
                   options.max_crop_size);
  }
  const int64_t size = UniformInteger(options.min_crop_size, options.max_crop_size, random);
  return ResizeBy(CropSomewhere(image, size, size, options, random), options.data_shape[1],
                  options.data_shape[2], options.inter_method, random);
}

// Enlarges an image until both edges are at least as long as wanted, with MXNet's rounding.
absl::StatusOr<Image> Enlarge(Image image, int64_t height, int64_t width, InterMethod method) {
  const auto scaled = [](int64_t wanted, int64_t edge, int64_t other) {
    return static_cast<int64_t>(static_cast<float>(wanted) / static_cast<float>(edge) *
                                static_cast<float>(other));
  };
  if (image.height < height) {
    COOPER_ASSIGN_OR_RETURN(
        image, ResizeImage(image, height, scaled(height, image.height, image.width), method));
  }
  if (image.width < width) {
    COOPER_ASSIGN_OR_RETURN(
        image, ResizeImage(image, scaled(width, image.width, image.height), width, method));
  }
  if (image.height < height || image.width < width) {
    return Invalid("the image has ", image.height, " x ", image.width,
                   " pixels when enlarged, expected ", height, " x ", width);
  }
  return image;
}

absl::Status CheckRange(absl::string_view what, Range range, float most) {
  if (range.least > 0 && range.least <= range.most && range.most <= most) return absl::OkStatus();
  return Invalid(what, " is ", range.least, " to ", range.most, ", expected a range above 0 up to ",
                 most);
}

}  // namespace

absl::Status CheckResize(const Shape& data_shape, int64_t resize, InterMethod method) {
  const bool has_extents = data_shape.rank() == 3 && data_shape[1] >= 1 && data_shape[2] >= 1 &&
                           data_shape[1] <= kMaxImagePixels / data_shape[2];
  if (!has_extents || (data_shape[0] != 1 && data_shape[0] != 3 && data_shape[0] != 4)) {
    return Invalid("data_shape is ", data_shape.ToString(),
                   ", expected (channels, height, width) with 1, 3 or 4 channels");
  }
  if (resize != -1 && (resize < 1 || resize > kMaxImagePixels)) {
    return Invalid("resize is ", resize, ", expected -1 or the length of an edge");
  }
  return CheckInterMethod(method);
}

absl::Status CheckImageTransform(const ImageTransformOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckResize(options.data_shape, options.resize, options.inter_method));
  constexpr float kMost = 1e6f;
  COOPER_RETURN_IF_ERROR(CheckRange("min_random_scale to max_random_scale",
                                    {options.min_random_scale, options.max_random_scale}, kMost));
  COOPER_RETURN_IF_ERROR(CheckRange("min_random_area to max_random_area",
                                    {options.min_random_area, options.max_random_area}, kMost));
  COOPER_RETURN_IF_ERROR(CheckRange("the aspect ratio", AspectRatios(options), kMost));
  for (const auto& [name, value] :
       {std::pair("max_rotate_angle", options.max_rotate_angle), std::pair("pad", options.pad)}) {
    if (value < 0 || value > 16384) return Invalid(name, " is ", value, ", expected 0 to 16384");
  }
  if (options.rotate < -1 || options.rotate > 16384) {
    return Invalid("rotate is ", options.rotate, ", expected -1 to 16384");
  }
  if (!(options.max_shear_ratio >= 0 && options.max_shear_ratio <= kMost)) {
    return Invalid("max_shear_ratio is ", options.max_shear_ratio, ", expected 0 to ", kMost);
  }
  if (!(options.min_img_size >= 0 && options.min_img_size <= options.max_img_size)) {
    return Invalid("min_img_size is ", options.min_img_size, ", max_img_size ",
                   options.max_img_size, ", expected 0 or more, in this order");
  }
  const int64_t least = options.min_crop_size, most = options.max_crop_size;
  const bool has_crop_size = least != -1 || most != -1;
  if (has_crop_size && (least < 1 || most < least)) {
    return Invalid("min_crop_size is ", least, ", max_crop_size ", most,
                   ", expected both to be -1, or both above 0, in this order");
  }
  if (options.random_resized_crop &&
      (has_crop_size || options.rand_crop || options.min_random_scale != 1 ||
       options.max_random_scale != 1)) {
    return Invalid("random_resized_crop excludes rand_crop, min_crop_size, max_crop_size, ",
                   "min_random_scale and max_random_scale");
  }
  return absl::OkStatus();
}

ImageColor ColorFor(const Shape& data_shape) {
  if (data_shape[0] == 1) return ImageColor::kGray;
  return data_shape[0] == 3 ? ImageColor::kColor : ImageColor::kUnchanged;
}

absl::Status CheckChannels(const Image& image, const Shape& data_shape) {
  if (image.channels == data_shape[0]) return absl::OkStatus();
  return Invalid("the image has ", image.channels, " channels, data_shape ", data_shape.ToString());
}

absl::StatusOr<Image> ResizeBy(const Image& image, int64_t height, int64_t width,
                               InterMethod method, RandomGenerator& random) {
  return ResizeImage(image, height, width, ChooseMethod(method, image, height, width, random));
}

absl::StatusOr<Image> ResizeShorterEdge(Image image, int64_t resize, InterMethod method,
                                        RandomGenerator& random) {
  if (resize == -1) return image;
  const int64_t shorter = std::max<int64_t>(std::min(image.height, image.width), 1);
  return ResizeBy(image, resize * image.height / shorter, resize * image.width / shorter, method,
                  random);
}

absl::StatusOr<Image> FitImage(Image image, const ImageTransformOptions& options,
                               RandomGenerator& random) {
  const int64_t height = options.data_shape[1], width = options.data_shape[2];
  const InterMethod method = options.inter_method;
  COOPER_RETURN_IF_ERROR(CheckChannels(image, options.data_shape));
  COOPER_ASSIGN_OR_RETURN(image,
                          ResizeShorterEdge(std::move(image), options.resize, method, random));
  if (IsMapped(options)) {
    COOPER_ASSIGN_OR_RETURN(image, MapImage(image, options, random));
  }
  if (const int64_t pad = options.pad; pad > 0) {
    COOPER_ASSIGN_OR_RETURN(image, PadImage(image, {pad, pad, pad, pad}, options.fill_value));
  }
  if (options.random_resized_crop) {
    COOPER_ASSIGN_OR_RETURN(std::optional<Image> crop, CropArea(image, options, random));
    if (crop.has_value()) return *std::move(crop);
  } else if (options.max_crop_size != -1) {
    return CropSquare(image, options, random);
  }
  const InterMethod chosen = ChooseMethod(method, image, height, width, random);
  COOPER_ASSIGN_OR_RETURN(image, Enlarge(std::move(image), height, width, chosen));
  return CropSomewhere(image, height, width, options, random);
}

}  // namespace cooper
