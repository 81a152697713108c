#include "io/images/image_transform.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the image with its shorter edge resized. The other one is rounded down, as in MXNet.
absl::StatusOr<Image> ResizeShorter(const Image& image, int64_t edge, InterMethod method) {
  if (image.height > image.width) {
    return ResizeImage(image, edge * image.height / image.width, edge, method);
  }
  return ResizeImage(image, edge, edge * image.width / image.height, method);
}

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

absl::Status CheckImageTransform(const ImageTransformOptions& options) {
  const Shape& shape = options.data_shape;
  const bool has_extents =
      shape.rank() == 3 && shape[1] >= 1 && shape[2] >= 1 && shape[1] <= kMaxImagePixels / shape[2];
  if (!has_extents || (shape[0] != 1 && shape[0] != 3 && shape[0] != 4)) {
    return absl::InvalidArgumentError(
        absl::StrCat("data_shape is ", shape.ToString(),
                     ", expected (channels, height, width) with 1, 3 or 4 channels"));
  }
  if (options.resize != -1 && (options.resize < 1 || options.resize > kMaxImagePixels)) {
    return absl::InvalidArgumentError(
        absl::StrCat("resize is ", options.resize, ", expected -1 or the length of an edge"));
  }
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

absl::StatusOr<Image> FitImage(const Image& image, const ImageTransformOptions& options,
                               RandomGenerator& random) {
  const int64_t height = options.data_shape[1], width = options.data_shape[2];
  if (image.channels != options.data_shape[0]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the image has ", image.channels, " channels, data_shape ", options.data_shape.ToString()));
  }
  Image fitted = image;
  if (options.resize != -1) {
    COOPER_ASSIGN_OR_RETURN(fitted, ResizeShorter(image, options.resize, options.inter_method));
  }
  if (options.pad > 0) {
    COOPER_ASSIGN_OR_RETURN(fitted, PadImage(fitted, options.pad, options.fill_value));
  }
  COOPER_ASSIGN_OR_RETURN(fitted, Enlarge(std::move(fitted), height, width, options.inter_method));
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

void WriteNormalized(const Image& image, bool mirrored, const ImageTransformOptions& options,
                     absl::Span<float> out) {
  const float means[] = {options.mean_r, options.mean_g, options.mean_b, options.mean_a};
  const float deviations[] = {options.std_r, options.std_g, options.std_b, options.std_a};
  float* to = out.data();
  for (int64_t k = 0; k < image.channels; ++k) {
    const float mean = means[k], factor = options.scale / deviations[k];
    for (int64_t row = 0; row < image.height; ++row) {
      for (int64_t column = 0; column < image.width; ++column) {
        const int64_t from = mirrored ? image.width - 1 - column : column;
        *to++ = (static_cast<float>(image.at(row, from)[k]) - mean) * factor;
      }
    }
  }
}

void WritePixels(const Image& image, bool mirrored, absl::Span<uint8_t> out) {
  uint8_t* to = out.data();
  for (int64_t k = 0; k < image.channels; ++k) {
    for (int64_t row = 0; row < image.height; ++row) {
      for (int64_t column = 0; column < image.width; ++column) {
        *to++ = image.at(row, mirrored ? image.width - 1 - column : column)[k];
      }
    }
  }
}

}  // namespace cooper
