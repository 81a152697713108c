#ifndef COOPER_IO_IMAGES_AUGMENT_DET_FIXTURES_H_
#define COOPER_IO_IMAGES_AUGMENT_DET_FIXTURES_H_

// Images with one visible object, for tests that boxes stay on their objects.

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "io/images/augment/det_label.h"
#include "io/images/codec/image.h"

namespace cooper {

inline constexpr int64_t kHeight = 120, kWidth = 200;

// Returns a black image with a white object.
inline Image Drawn(const DetObject& object) {
  Image image{.height = kHeight, .width = kWidth, .channels = 3};
  image.pixels.resize(kHeight * kWidth * 3);
  for (auto row = static_cast<int64_t>(object.top * kHeight); row < object.bottom * kHeight;
       ++row) {
    for (auto column = static_cast<int64_t>(object.left * kWidth); column < object.right * kWidth;
         ++column) {
      std::fill_n(image.at(row, column), 3, uint8_t{255});
    }
  }
  return image;
}

// Returns the object that is white in the image.
inline DetObject Found(const Image& image) {
  int64_t top = image.height, bottom = 0, left = image.width, right = 0;
  for (int64_t row = 0; row < image.height; ++row) {
    for (int64_t column = 0; column < image.width; ++column) {
      if (*image.at(row, column) < 200) continue;
      top = std::min(top, row);
      bottom = std::max(bottom, row + 1);
      left = std::min(left, column);
      right = std::max(right, column + 1);
    }
  }
  const auto height = static_cast<float>(image.height), width = static_cast<float>(image.width);
  return {.left = static_cast<float>(left) / width,
          .top = static_cast<float>(top) / height,
          .right = static_cast<float>(right) / width,
          .bottom = static_cast<float>(bottom) / height};
}

// Expects the edges of `got` where those of the white object are. Both the image's and the
// object's edges are rounded to pixels.
inline void ExpectOnObject(const DetObject& got, const Image& image) {
  const DetObject found = Found(image);
  const float x = 2.0f / static_cast<float>(image.width);
  const float y = 2.0f / static_cast<float>(image.height);
  EXPECT_NEAR(got.left, found.left, x);
  EXPECT_NEAR(got.right, found.right, x);
  EXPECT_NEAR(got.top, found.top, y);
  EXPECT_NEAR(got.bottom, found.bottom, y);
}

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_DET_FIXTURES_H_
