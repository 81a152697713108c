#include "io/images/augment/image_normalizer.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper {
namespace {

// Writes value(pixel, element of the image's plane) for each element of `to`; value_of(channel)
// returns that function, with what is constant in a plane.
template <typename T, typename ValueOf>
void WritePlanes(const Image& image, bool mirrored, ValueOf value_of, T* to) {
  for (int64_t k = 0; k < image.channels; ++k) {
    const auto value = value_of(k);
    for (int64_t row = 0; row < image.height; ++row) {
      for (int64_t column = 0; column < image.width; ++column) {
        const int64_t from = mirrored ? image.width - 1 - column : column;
        *to++ = value(image.at(row, from)[k], static_cast<size_t>(row * image.width + from));
      }
    }
  }
}

}  // namespace

absl::Status CheckImageNormalize(const ImageNormalizeOptions& options) {
  const struct {
    const char* channel;
    float mean, deviation;
  } channels[] = {{"r", options.mean_r, options.std_r},
                  {"g", options.mean_g, options.std_g},
                  {"b", options.mean_b, options.std_b},
                  {"a", options.mean_a, options.std_a}};
  for (const auto& [channel, mean, deviation] : channels) {
    if (!std::isfinite(mean) || !std::isfinite(deviation) || deviation == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("mean_", channel, " is ", mean, " and std_", channel, " is ", deviation,
                       ": expected finite numbers, and a deviation other than 0"));
    }
    if (mean != 0 && !options.mean_img.empty()) {
      return absl::InvalidArgumentError("mean_img excludes mean_r, mean_g, mean_b, mean_a");
    }
  }
  if (std::isfinite(options.scale)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("scale is ", options.scale, ", expected a finite number"));
}

ImageNormalizer::ImageNormalizer(const ImageNormalizeOptions& options)
    : means_{options.mean_r, options.mean_g, options.mean_b, options.mean_a},
      deviations_{options.std_r, options.std_g, options.std_b, options.std_a},
      scale_(options.scale) {}

absl::StatusOr<ImageNormalizer> ImageNormalizer::Create(const ImageNormalizeOptions& options,
                                                        const Shape& data_shape) {
  COOPER_RETURN_IF_ERROR(CheckImageNormalize(options));
  ImageNormalizer normalizer(options);
  if (options.mean_img.empty()) return normalizer;
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, LoadNamedArrays(options.mean_img));
  if (arrays.size() != 1 || arrays[0].second.shape() != data_shape ||
      arrays[0].second.dtype() != DType::kFloat32) {
    return absl::InvalidArgumentError(absl::StrCat(
        "mean_img '", options.mean_img, "' has ", arrays.size(),
        arrays.size() != 1 ? " arrays"
                           : absl::StrCat(" array, ", arrays[0].second.shape().ToString(), " ",
                                          DTypeName(arrays[0].second.dtype())),
        ", expected one, ", data_shape.ToString(), " float32, as data_shape"));
  }
  COOPER_ASSIGN_OR_RETURN(normalizer.mean_image_, arrays[0].second.ToVector<float>());
  if (!absl::c_all_of(normalizer.mean_image_, [](float mean) { return std::isfinite(mean); })) {
    return absl::InvalidArgumentError(
        absl::StrCat("mean_img '", options.mean_img, "' has NaN or infinity"));
  }
  return normalizer;
}

ImageNormalizer::Mean ImageNormalizer::MeanOf(int64_t channel, const Image& image) const {
  if (mean_image_.empty()) return {means_[channel], nullptr};
  return {0, mean_image_.data() + channel * image.height * image.width};
}

void ImageNormalizer::WriteScaled(const Image& image, bool mirrored, float contrast,
                                  float illumination, absl::Span<float> out) const {
  const auto scaled = [&](int64_t k) {
    return [mean = MeanOf(k, image), factor = contrast * scale_ / deviations_[k],
            offset = illumination * scale_ / deviations_[k]](uint8_t pixel, size_t element) {
      return (static_cast<float>(pixel) - mean.At(element)) * factor + offset;
    };
  };
  WritePlanes(image, mirrored, scaled, out.data());
}

void ImageNormalizer::WriteDivided(const Image& image, absl::Span<float> out) const {
  const auto divided = [&](int64_t k) {
    return [mean = MeanOf(k, image), deviation = deviations_[k], scale = scale_](uint8_t pixel,
                                                                                 size_t element) {
      return (static_cast<float>(pixel) - mean.At(element)) / deviation * scale;
    };
  };
  WritePlanes(image, /*mirrored=*/false, divided, out.data());
}

void ImageNormalizer::WriteCentred(const Image& image, bool mirrored,
                                   absl::Span<int8_t> out) const {
  const auto centred = [&](int64_t k) {
    return [mean = MeanOf(k, image)](uint8_t pixel, size_t element) {
      const float value = static_cast<float>(pixel) - std::round(mean.At(element));
      return static_cast<int8_t>(std::clamp(value, -128.0f, 127.0f));
    };
  };
  WritePlanes(image, mirrored, centred, out.data());
}

void WritePixels(const Image& image, bool mirrored, absl::Span<uint8_t> out) {
  const auto same = [](int64_t) { return [](uint8_t pixel, size_t) { return pixel; }; };
  WritePlanes(image, mirrored, same, out.data());
}

}  // namespace cooper
