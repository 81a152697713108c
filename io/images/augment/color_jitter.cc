#include "io/images/augment/color_jitter.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "io/images/imgproc/edit_image.h"

namespace cooper {
namespace {

// Returns a number in [-most, most).
float Uniform(float most, RandomGenerator& random) {
  return static_cast<float>(random.NextUniform() * 2 - 1) * most;
}

// Returns a number in (-most, most) that is seldom at the ends.
int Shift(int most, RandomGenerator& random) {
  const double uniform = (random.NextUniform() + 4 * random.NextUniform()) / 5;
  return static_cast<int>((uniform * 2 - 1) * most);
}

void ScaleColors(const ColorJitterOptions& options, RandomGenerator& random, Image* image) {
  const float brightness = 1 + Uniform(options.brightness, random);
  const float contrast = 1 + Uniform(options.contrast, random);
  const float saturation = 1 + Uniform(options.saturation, random);
  for (const int64_t change : random.Permutation(3)) {
    if (change == 0) {
      ScaleSamples(brightness, 0, image);
    } else if (change == 1) {
      ScaleSamples(contrast, (1 - contrast) * MeanGray(*image), image);
    } else {
      Saturate(saturation, image);
    }
  }
}

}  // namespace

absl::Status CheckColorJitter(const ColorJitterOptions& options, const Shape& data_shape) {
  for (const auto& [name, value] :
       {std::pair("brightness", options.brightness), std::pair("contrast", options.contrast),
        std::pair("saturation", options.saturation), std::pair("pca_noise", options.pca_noise),
        std::pair("random_h", static_cast<float>(options.random_h)),
        std::pair("random_s", static_cast<float>(options.random_s)),
        std::pair("random_l", static_cast<float>(options.random_l))}) {
    if (!(value >= 0 && value <= 1e6f)) {
      return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, ", expected 0 to 1e6"));
    }
    if (value != 0 && data_shape[0] != 3) {
      return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, ", data_shape ",
                                                     data_shape.ToString(),
                                                     "; it needs three channels"));
    }
  }
  return absl::OkStatus();
}

std::array<float, 3> DrawLighting(float deviation, const ColorAxes& axes, RandomGenerator& random) {
  std::array<float, 3> shifts = {};
  for (size_t i = 0; i < 3; ++i) {
    const float noise = static_cast<float>(random.NextNormal()) * deviation;
    for (size_t k = 0; k < 3; ++k) shifts[k] += axes.eigval[i] * axes.eigvec[k][i] * noise;
  }
  return shifts;
}

void JitterColors(const ColorJitterOptions& options, RandomGenerator& random, Image* image) {
  if (options.brightness > 0 || options.contrast > 0 || options.saturation > 0) {
    ScaleColors(options, random, image);
  }
  if (options.random_h > 0 || options.random_s > 0 || options.random_l > 0) {
    const int hue = Shift(options.random_h, random);
    const int saturation = Shift(options.random_s, random);
    const int lightness = Shift(options.random_l, random);
    ShiftHls(hue, lightness, saturation, image);
  }
  if (options.pca_noise > 0) {
    const auto [red, green, blue] = DrawLighting(options.pca_noise, ColorAxes(), random);
    ShiftRgb(red, green, blue, image);
  }
}

}  // namespace cooper
