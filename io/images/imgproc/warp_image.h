#ifndef COOPER_IO_IMAGES_IMGPROC_WARP_IMAGE_H_
#define COOPER_IO_IMAGES_IMGPROC_WARP_IMAGE_H_

// Rotates, shears and scales images with the arithmetic of OpenCV's warpAffine.

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "io/images/codec/image.h"
#include "io/images/imgproc/resize_image.h"

namespace cooper {

// Maps a pixel (x, y) to (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]).
using AffineMap = std::array<double, 6>;

// Returns the mapped image in an extent of height x width. Places are rounded to 1/32 of a pixel;
// kArea is kBilinear. What comes from outside the image is `fill`, its alpha 0. kInvalidArgument,
// with the sizes, if the image has no pixels or an extent above 32767, or the result would have
// none or more than kMaxImagePixels (image_codec.h), and for kAuto and kRandom. Thread-safe.
absl::StatusOr<Image> WarpImage(const Image& image, const AffineMap& map, int64_t height,
                                int64_t width, InterMethod method, uint8_t fill);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMGPROC_WARP_IMAGE_H_
