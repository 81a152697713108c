#include "io/images/normalize_image.h"

namespace cooper {
namespace {

// Writes value(pixel) for one channel.
template <typename T, typename Value>
T* WritePlane(const Image& image, int64_t channel, bool mirrored, Value value, T* to) {
  for (int64_t row = 0; row < image.height; ++row) {
    for (int64_t column = 0; column < image.width; ++column) {
      *to++ = value(image.at(row, mirrored ? image.width - 1 - column : column)[channel]);
    }
  }
  return to;
}

}  // namespace

void WriteNormalized(const Image& image, bool mirrored, const ImageNormalizeOptions& options,
                     NormalizeOrder order, absl::Span<float> out) {
  const float means[] = {options.mean_r, options.mean_g, options.mean_b, options.mean_a};
  const float deviations[] = {options.std_r, options.std_g, options.std_b, options.std_a};
  const float scale = options.scale;
  float* to = out.data();
  for (int64_t k = 0; k < image.channels; ++k) {
    const float mean = means[k], deviation = deviations[k], factor = scale / deviation;
    if (order == NormalizeOrder::kMultiply) {
      to = WritePlane(
          image, k, mirrored,
          [=](uint8_t pixel) { return (static_cast<float>(pixel) - mean) * factor; }, to);
    } else {
      to = WritePlane(
          image, k, mirrored,
          [=](uint8_t pixel) { return (static_cast<float>(pixel) - mean) / deviation * scale; },
          to);
    }
  }
}

void WritePixels(const Image& image, bool mirrored, absl::Span<uint8_t> out) {
  uint8_t* to = out.data();
  for (int64_t k = 0; k < image.channels; ++k) {
    to = WritePlane(
        image, k, mirrored, [](uint8_t pixel) { return pixel; }, to);
  }
}

}  // namespace cooper
