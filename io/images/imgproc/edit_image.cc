#include "io/images/imgproc/edit_image.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/images/codec/image_codec.h"

namespace cooper {
namespace {

uint8_t ToSample(float value) {
  return static_cast<uint8_t>(std::lrint(std::clamp(value, 0.0f, 255.0f)));
}

// Weights of 14 bits.
int Gray(const uint8_t* pixel) {
  constexpr int kRed = 1868, kGreen = 9617, kBlue = 4899;
  return (kRed * pixel[0] + kGreen * pixel[1] + kBlue * pixel[2] + (1 << 13)) >> 14;
}

// Hue in half degrees; lightness and saturation in [0, 1].
struct Hls {
  float hue, lightness, saturation;
};

Hls ToHls(float red, float green, float blue) {
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const float spread = most - least, lightness = (most + least) * 0.5f;
  if (!(spread > FLT_EPSILON)) return {0, lightness, 0};
  const float degrees = 60.0f / spread;
  float hue;
  if (most == red) {
    hue = (green - blue) * degrees;
  } else if (most == green) {
    hue = (blue - red) * degrees + 120.0f;
  } else {
    hue = (red - green) * degrees + 240.0f;
  }
  if (hue < 0) hue += 360.0f;
  const float saturation = spread / (lightness < 0.5f ? most + least : 2 - (most + least));
  return {hue * (180 * (1.0f / 360.0f)), lightness, saturation};
}

std::array<float, 3> ToRgb(const Hls& hls) {
  const float light = hls.lightness, saturation = hls.saturation;
  if (saturation == 0) return {light, light, light};
  const float high =
      light <= 0.5f ? light * (1 + saturation) : light + saturation - light * saturation;
  const float low = 2 * light - high;
  float place = hls.hue * (6.0f / 180);
  while (place >= 6) place -= 6;
  const int sector = static_cast<int>(place);
  const float fraction = place - static_cast<float>(sector);
  const float falling = low + (high - low) * (1 - fraction), rising = low + (high - low) * fraction;
  switch (sector) {
    case 0:
      return {high, rising, low};
    case 1:
      return {falling, high, low};
    case 2:
      return {low, high, rising};
    case 3:
      return {low, falling, high};
    case 4:
      return {rising, low, high};
    default:
      return {high, low, falling};
  }
}

}  // namespace

template <typename T>
BasicImage<T> CropImage(const BasicImage<T>& image, int64_t top, int64_t left, int64_t height,
                        int64_t width) {
  BasicImage<T> crop{.height = height, .width = width, .channels = image.channels};
  crop.pixels.resize(static_cast<size_t>(height * width * image.channels));
  for (int64_t row = 0; row < height; ++row) {
    std::copy_n(image.at(top + row, left), width * image.channels, crop.at(row, 0));
  }
  return crop;
}

template <typename T>
void MirrorImage(BasicImage<T>* image) {
  for (int64_t row = 0; row < image->height; ++row) {
    for (int64_t left = 0, right = image->width - 1; left < right; ++left, --right) {
      std::swap_ranges(image->at(row, left), image->at(row, left) + image->channels,
                       image->at(row, right));
    }
  }
}

template Image CropImage(const Image&, int64_t, int64_t, int64_t, int64_t);
template FloatImage CropImage(const FloatImage&, int64_t, int64_t, int64_t, int64_t);
template void MirrorImage(Image*);
template void MirrorImage(FloatImage*);

absl::StatusOr<Image> PadImage(const Image& image, const ImageBorder& border,
                               const std::array<uint8_t, 4>& fill) {
  Image padded{.height = image.height + border.top + border.bottom,
               .width = image.width + border.left + border.right,
               .channels = image.channels};
  if (padded.height > kMaxImagePixels / std::max<int64_t>(padded.width, 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an image of ", image.height, " x ", image.width, " pixels with a border has ",
        padded.height, " x ", padded.width, ", expected at most ", kMaxImagePixels, " pixels"));
  }
  padded.pixels.resize(static_cast<size_t>(padded.height * padded.width * padded.channels));
  for (auto to = padded.pixels.begin(); to != padded.pixels.end(); to += padded.channels) {
    std::copy_n(fill.begin(), padded.channels, to);
  }
  for (int64_t row = 0; row < image.height; ++row) {
    std::memcpy(padded.at(row + border.top, border.left), image.at(row, 0),
                static_cast<size_t>(image.width * image.channels));
  }
  return padded;
}

absl::StatusOr<Image> PadImage(const Image& image, const ImageBorder& border, uint8_t value) {
  return PadImage(image, border, {value, value, value, 0});
}

void ScaleSamples(float factor, float offset, Image* image) {
  for (uint8_t& sample : image->pixels) {
    sample = ToSample(static_cast<float>(sample) * factor + offset);
  }
}

float MeanGray(const Image& image) {
  int64_t sum = 0;
  for (size_t i = 0; i < image.pixels.size(); i += 3) sum += Gray(&image.pixels[i]);
  const auto count = static_cast<double>(image.height * image.width);
  return static_cast<float>(static_cast<double>(sum) * (1.0 / count));
}

void Saturate(float factor, Image* image) {
  for (size_t i = 0; i < image->pixels.size(); i += 3) {
    uint8_t* pixel = &image->pixels[i];
    const float gray = static_cast<float>(Gray(pixel)) * (1 - factor);
    for (int k = 0; k < 3; ++k) pixel[k] = ToSample(static_cast<float>(pixel[k]) * factor + gray);
  }
}

void ShiftHls(int hue, int lightness, int saturation, Image* image) {
  constexpr float kUnit = 1.0f / 255.0f;
  const auto shift = [](float value, int by, int most) {
    return static_cast<float>(std::clamp<int64_t>(int64_t{ToSample(value)} + by, 0, most));
  };
  for (size_t i = 0; i < image->pixels.size(); i += 3) {
    uint8_t* pixel = &image->pixels[i];
    const Hls hls = ToHls(pixel[0] * kUnit, pixel[1] * kUnit, pixel[2] * kUnit);
    const std::array<float, 3> rgb =
        ToRgb({shift(hls.hue, hue, 180), shift(hls.lightness * 255, lightness, 255) * kUnit,
               shift(hls.saturation * 255, saturation, 255) * kUnit});
    for (size_t k = 0; k < 3; ++k) pixel[k] = ToSample(rgb[k] * 255);
  }
}

void ShiftRgb(float red, float green, float blue, Image* image) {
  const float shifts[] = {red, green, blue};
  for (size_t i = 0; i < image->pixels.size(); ++i) {
    const float sum = static_cast<float>(image->pixels[i]) + shifts[i % 3];
    image->pixels[i] = static_cast<uint8_t>(std::clamp(sum, 0.0f, 255.0f));
  }
}

}  // namespace cooper
