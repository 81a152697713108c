#include "io/images/image_transform.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the image with a border of `value`; a border's alpha is 0, as MXNet's.
absl::StatusOr<Image> PadImage(const Image& image, int64_t pad, uint8_t value) {
  if (image.height + 2 * pad > kMaxImagePixels / (image.width + 2 * pad)) {
    return absl::InvalidArgumentError(absl::StrCat("an image of ", image.height, " x ", image.width,
                                                   " pixels with pad ", pad, " has more than ",
                                                   kMaxImagePixels, " pixels"));
  }
  Image padded{
      .height = image.height + 2 * pad, .width = image.width + 2 * pad, .channels = image.channels};
  padded.pixels.assign(static_cast<size_t>(padded.height * padded.width * padded.channels), value);
  if (image.channels == 4) {
    for (size_t i = 3; i < padded.pixels.size(); i += 4) padded.pixels[i] = 0;
  }
  for (int64_t row = 0; row < image.height; ++row) {
    std::memcpy(padded.at(row + pad, pad), image.at(row, 0),
                static_cast<size_t>(image.width * image.channels));
  }
  return padded;
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
    return absl::InvalidArgumentError(absl::StrCat("the image has ", image.height, " x ",
                                                   image.width, " pixels when enlarged, expected ",
                                                   height, " x ", width));
  }
  return image;
}

}  // namespace

absl::Status CheckResize(const Shape& data_shape, int64_t resize, InterMethod method) {
  const bool has_extents = data_shape.rank() == 3 && data_shape[1] >= 1 && data_shape[2] >= 1 &&
                           data_shape[1] <= kMaxImagePixels / data_shape[2];
  if (!has_extents || (data_shape[0] != 1 && data_shape[0] != 3 && data_shape[0] != 4)) {
    return absl::InvalidArgumentError(
        absl::StrCat("data_shape is ", data_shape.ToString(),
                     ", expected (channels, height, width) with 1, 3 or 4 channels"));
  }
  if (resize != -1 && (resize < 1 || resize > kMaxImagePixels)) {
    return absl::InvalidArgumentError(
        absl::StrCat("resize is ", resize, ", expected -1 or the length of an edge"));
  }
  return CheckInterMethod(method);
}

absl::Status CheckChannels(const Image& image, const Shape& data_shape) {
  if (image.channels == data_shape[0]) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the image has ", image.channels,
                                                 " channels, data_shape ", data_shape.ToString()));
}

absl::Status CheckImageTransform(const ImageTransformOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckResize(options.data_shape, options.resize, options.inter_method));
  if (options.pad < 0 || options.pad > kMaxImagePixels / 4096) {
    return absl::InvalidArgumentError(
        absl::StrCat("pad is ", options.pad, ", expected 0 to ", kMaxImagePixels / 4096));
  }
  return absl::OkStatus();
}

ImageColor ColorFor(const Shape& data_shape) {
  if (data_shape[0] == 1) return ImageColor::kGray;
  return data_shape[0] == 3 ? ImageColor::kColor : ImageColor::kUnchanged;
}

InterMethod ChooseInterMethod(InterMethod method, const Image& image, int64_t height, int64_t width,
                              RandomGenerator& random) {
  if (method == InterMethod::kRandom) return static_cast<InterMethod>(random.NextBelow(5));
  if (method != InterMethod::kAuto) return method;
  if (height > image.height && width > image.width) return InterMethod::kCubic;
  if (height < image.height && width < image.width) return InterMethod::kArea;
  return InterMethod::kBilinear;
}

absl::StatusOr<Image> ResizeShorterEdge(const Image& image, int64_t resize, InterMethod method,
                                        RandomGenerator& random) {
  if (resize == -1) return image;
  const int64_t shorter = std::max<int64_t>(std::min(image.height, image.width), 1);
  const int64_t height = resize * image.height / shorter, width = resize * image.width / shorter;
  return ResizeImage(image, height, width, ChooseInterMethod(method, image, height, width, random));
}

absl::StatusOr<Image> FitImage(const Image& image, const ImageTransformOptions& options,
                               RandomGenerator& random) {
  const int64_t height = options.data_shape[1], width = options.data_shape[2];
  COOPER_RETURN_IF_ERROR(CheckChannels(image, options.data_shape));
  COOPER_ASSIGN_OR_RETURN(Image fitted,
                          ResizeShorterEdge(image, options.resize, options.inter_method, random));
  if (options.pad > 0) {
    COOPER_ASSIGN_OR_RETURN(fitted, PadImage(fitted, options.pad, options.fill_value));
  }
  const InterMethod method = ChooseInterMethod(options.inter_method, fitted, height, width, random);
  COOPER_ASSIGN_OR_RETURN(fitted, Enlarge(std::move(fitted), height, width, method));
  const int64_t rows = fitted.height - height, columns = fitted.width - width;
  const auto begin = [&](int64_t spare) {
    if (!options.rand_crop) return spare / 2;
    return static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(spare) + 1));
  };
  const int64_t top = begin(rows), left = begin(columns);
  Image crop{.height = height, .width = width, .channels = fitted.channels};
  const int64_t row_bytes = width * fitted.channels;
  crop.pixels.resize(static_cast<size_t>(height * row_bytes));
  for (int64_t row = 0; row < height; ++row) {
    std::memcpy(crop.at(row, 0), fitted.at(top + row, left), static_cast<size_t>(row_bytes));
  }
  return crop;
}

}  // namespace cooper
