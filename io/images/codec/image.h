#ifndef COOPER_IO_IMAGES_CODEC_IMAGE_H_
#define COOPER_IO_IMAGES_CODEC_IMAGE_H_

// An image in memory, as the functions of io/images decode, resize, change and encode it.

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace cooper {

// Pixels row by row, from the upper left. The channels of a pixel are adjacent: gray, or red,
// green, blue and possibly alpha. MXNet's unpack_img and pack_img have blue first.
template <typename T>
struct BasicImage {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;   // 1, 3 or 4
  std::vector<T> pixels;  // height * width * channels

  // Returns the first channel of a pixel.
  const T* at(int64_t row, int64_t column) const {
    return pixels.data() + static_cast<size_t>((row * width + column) * channels);
  }
  T* at(int64_t row, int64_t column) {
    return pixels.data() + static_cast<size_t>((row * width + column) * channels);
  }

  friend bool operator==(const BasicImage&, const BasicImage&) = default;
};

using Image = BasicImage<uint8_t>;     // as it is decoded and encoded
using FloatImage = BasicImage<float>;  // in the range of Image, while colours are changed
using AnyImage = std::variant<Image, FloatImage>;

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_CODEC_IMAGE_H_
