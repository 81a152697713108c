#include "io/images/imgproc/adjust_color.h"

#include <cmath>
#include <cstddef>

namespace cooper {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product = {};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 3; ++k) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

float Gray(const float* pixel) { return 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]; }

// Calls change(pixel) for each pixel of three channels.
template <typename Change>
void ForEachPixel(FloatImage* image, Change change) {
  for (size_t i = 0; i + 3 <= image->pixels.size(); i += 3) change(&image->pixels[i]);
}

}  // namespace

FloatImage ToFloats(const Image& image) {
  return {.height = image.height,
          .width = image.width,
          .channels = image.channels,
          .pixels = {image.pixels.begin(), image.pixels.end()}};
}

void AdjustBrightness(float factor, FloatImage* image) {
  for (float& sample : image->pixels) sample *= factor;
}

void AdjustContrast(float factor, FloatImage* image) {
  double sum = 0;
  ForEachPixel(image, [&](const float* pixel) { sum += static_cast<double>(Gray(pixel)); });
  const auto mean = static_cast<float>(sum / static_cast<double>(image->height * image->width));
  const float offset = (1 - factor) * mean;
  for (float& sample : image->pixels) sample = sample * factor + offset;
}

void AdjustSaturation(float factor, FloatImage* image) {
  ForEachPixel(image, [&](float* pixel) {
    const float gray = Gray(pixel) * (1 - factor);
    for (int k = 0; k < 3; ++k) pixel[k] = pixel[k] * factor + gray;
  });
}

void AdjustHue(double half_turns, FloatImage* image) {
  const double cosine = std::cos(half_turns * M_PI), sine = std::sin(half_turns * M_PI);
  const Matrix to_yiq = {{{0.299, 0.587, 0.114}, {0.596, -0.274, -0.321}, {0.211, -0.523, 0.311}}};
  const Matrix turn = {{{1, 0, 0}, {0, cosine, -sine}, {0, sine, cosine}}};
  const Matrix to_rgb = {{{1, 0.956, 0.621}, {1, -0.272, -0.647}, {1, -1.107, 1.705}}};
  const Matrix all = to_rgb * turn * to_yiq;
  ForEachPixel(image, [&](float* pixel) {
    const std::array<double, 3> rgb = {pixel[0], pixel[1], pixel[2]};
    for (size_t k = 0; k < 3; ++k) {
      pixel[k] = static_cast<float>(all[k][0] * rgb[0] + all[k][1] * rgb[1] + all[k][2] * rgb[2]);
    }
  });
}

void RemoveColors(FloatImage* image) {
  ForEachPixel(image, [](float* pixel) {
    const float gray = 0.21f * pixel[0] + 0.72f * pixel[1] + 0.07f * pixel[2];
    for (int k = 0; k < 3; ++k) pixel[k] = gray;
  });
}

void ShiftColors(const std::array<float, 3>& shifts, FloatImage* image) {
  ForEachPixel(image, [&](float* pixel) {
    for (size_t k = 0; k < 3; ++k) pixel[k] += shifts[k];
  });
}

void NormalizeColors(const std::array<float, 3>& means, const std::array<float, 3>& deviations,
                     FloatImage* image) {
  ForEachPixel(image, [&](float* pixel) {
    for (size_t k = 0; k < 3; ++k) pixel[k] = (pixel[k] - means[k]) / deviations[k];
  });
}

}  // namespace cooper
