#ifndef COOPER_IO_IMAGES_RESIZE_IMAGE_H_
#define COOPER_IO_IMAGES_RESIZE_IMAGE_H_

// Resizes images with OpenCV's arithmetic, so that pixels are those of MXNet.

#include <cstdint>

#include "absl/status/statusor.h"
#include "io/images/image.h"

namespace cooper {

// The methods of MXNet's inter_method, with its numbers.
enum class InterMethod {
  kNearest = 0,
  kBilinear = 1,  // weights of 11 bits; halving both extents is the mean of four pixels
};

// Returns the image in another size. kInvalidArgument, with the sizes, if an image has no pixels or
// the result would have more than kMaxImagePixels (image_codec.h). Thread-safe.
absl::StatusOr<Image> ResizeImage(const Image& image, int64_t height, int64_t width,
                                  InterMethod method = InterMethod::kBilinear);

// Resizes the shorter edge of an image to `edge` and the other one in proportion, rounded down.
// Errors are those of ResizeImage.
absl::StatusOr<Image> ResizeShorterEdge(const Image& image, int64_t edge, InterMethod method);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_RESIZE_IMAGE_H_
