#ifndef COOPER_IO_IMAGES_CODEC_IMAGE_H_
#define COOPER_IO_IMAGES_CODEC_IMAGE_H_

// An image in memory, as the functions of io/images decode, resize, change and encode it.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cooper {

// Pixels of 8-bit channels, row by row, from the upper left. The channels of a pixel are adjacent:
// gray, or red, green, blue and possibly alpha. MXNet's unpack_img and pack_img have blue first.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;         // 1, 3 or 4
  std::vector<uint8_t> pixels;  // height * width * channels

  // Returns the first channel of a pixel.
  const uint8_t* at(int64_t row, int64_t column) const {
    return pixels.data() + static_cast<size_t>((row * width + column) * channels);
  }
  uint8_t* at(int64_t row, int64_t column) {
    return pixels.data() + static_cast<size_t>((row * width + column) * channels);
  }

  friend bool operator==(const Image&, const Image&) = default;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_CODEC_IMAGE_H_
