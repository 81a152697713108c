#include "io/images/normalize_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace cooper {
namespace {

// The mean, deviation and scale of a channel.
struct ChannelScale {
  float mean, deviation, scale;
};

ChannelScale Channel(const ImageNormalizeOptions& options, int64_t channel) {
  const std::array<float, 4> means = {options.mean_r, options.mean_g, options.mean_b,
                                      options.mean_a};
  const std::array<float, 4> deviations = {options.std_r, options.std_g, options.std_b,
                                           options.std_a};
  const auto k = static_cast<size_t>(channel);
  return {means[k], deviations[k], options.scale};
}

// Writes value(channel, pixel) in the type of `to`; make_value(channel) returns that function.
template <typename T, typename MakeValue>
void WritePlanes(const Image& image, bool mirrored, MakeValue make_value, T* to) {
  for (int64_t k = 0; k < image.channels; ++k) {
    const auto value = make_value(k);
    for (int64_t row = 0; row < image.height; ++row) {
      for (int64_t column = 0; column < image.width; ++column) {
        *to++ = value(image.at(row, mirrored ? image.width - 1 - column : column)[k]);
      }
    }
  }
}

}  // namespace

void WriteNormalized(const Image& image, bool mirrored, const ImageNormalizeOptions& options,
                     NormalizeOrder order, absl::Span<float> out) {
  if (order == NormalizeOrder::kMultiply) {
    const auto multiply = [&](int64_t k) {
      const auto [mean, deviation, scale] = Channel(options, k);
      return [mean = mean, factor = scale / deviation](uint8_t pixel) {
        return (static_cast<float>(pixel) - mean) * factor;
      };
    };
    WritePlanes(image, mirrored, multiply, out.data());
  } else {
    const auto divide = [&](int64_t k) {
      return [channel = Channel(options, k)](uint8_t pixel) {
        return (static_cast<float>(pixel) - channel.mean) / channel.deviation * channel.scale;
      };
    };
    WritePlanes(image, mirrored, divide, out.data());
  }
}

void WritePixels(const Image& image, bool mirrored, absl::Span<uint8_t> out) {
  const auto copy = [](int64_t) { return [](uint8_t pixel) { return pixel; }; };
  WritePlanes(image, mirrored, copy, out.data());
}

void WriteCentred(const Image& image, bool mirrored, const ImageNormalizeOptions& options,
                  absl::Span<int8_t> out) {
  const auto centre = [&](int64_t k) {
    return [mean = std::round(Channel(options, k).mean)](uint8_t pixel) {
      return static_cast<int8_t>(std::clamp(static_cast<float>(pixel) - mean, -128.0f, 127.0f));
    };
  };
  WritePlanes(image, mirrored, centre, out.data());
}

}  // namespace cooper
