#ifndef COOPER_IO_IMAGES_CODEC_IMAGE_CODEC_H_
#define COOPER_IO_IMAGES_CODEC_IMAGE_CODEC_H_

// Decodes and encodes JPEG and PNG by libjpeg-turbo and libpng.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/images/codec/image.h"

namespace cooper {

// The channels of a decoded image; the values are those of OpenCV's flag `iscolor`.
enum class ImageColor {
  kUnchanged = -1,  // those of the file: 1, 3, or 4 with alpha
  kGray = 0,        // 1
  kColor = 1,       // 3
};

// The largest image that is decoded: a header may claim any size. 2^26 pixels.
inline constexpr int64_t kMaxImagePixels = int64_t{1} << 26;

// Decodes a JPEG or PNG image. Samples of 16 bits are reduced to 8, alpha is dropped unless it is
// asked for. The orientation that a camera has noted (Exif) is not applied. Thread-safe.
//
// kInvalidArgument, with the library's reason, if the bytes are neither, are damaged, or end early,
// or the image has more than kMaxImagePixels; kUnimplemented for JPEG with CMYK colours.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes,
                                  ImageColor color = ImageColor::kUnchanged);

// Encode an image. `quality` is 1 to 100, `compression` 0 to 9. kInvalidArgument, naming what is
// wrong, for other values, for an image without pixels or with another number of channels than 1 or
// 3 (PNG: or 4), for an extent above 65500, and if `pixels` does not have height * width * channels
// elements. Thread-safe.
absl::StatusOr<std::string> EncodeJpeg(const Image& image, int quality = 95);
absl::StatusOr<std::string> EncodePng(const Image& image, int compression = 3);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_CODEC_IMAGE_CODEC_H_
