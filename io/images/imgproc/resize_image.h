#ifndef COOPER_IO_IMAGES_IMGPROC_RESIZE_IMAGE_H_
#define COOPER_IO_IMAGES_IMGPROC_RESIZE_IMAGE_H_

// Resizes images with OpenCV's arithmetic, so that pixels are those of MXNet.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/codec/image.h"

namespace cooper {

// The methods of MXNet's inter_method, with its numbers.
enum class InterMethod {
  kNearest = 0,
  kBilinear = 1,  // weights of 11 bits; halving both extents is the mean of four pixels
  kCubic = 2,     // 4 x 4 pixels, weights of 11 bits
  kArea = 3,      // the mean of the pixels that are covered; bilinear if an extent grows
  kLanczos = 4,   // 8 x 8 pixels, weights of 11 bits
  // These are for iterators, which choose one of the methods above for each image: cubic if both
  // extents grow, area if both shrink, else bilinear; or any.
  kAuto = 9,
  kRandom = 10,
};

// kInvalidArgument, with the number, for a number that is none of the methods.
absl::Status CheckInterMethod(InterMethod method);

// Returns the image in another size. kInvalidArgument, with the sizes, if an image has no pixels or
// the result would have more than kMaxImagePixels (image_codec.h), and for kAuto and
// kRandom. Thread-safe.
absl::StatusOr<Image> ResizeImage(const Image& image, int64_t height, int64_t width,
                                  InterMethod method = InterMethod::kBilinear);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMGPROC_RESIZE_IMAGE_H_
