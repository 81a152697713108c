#ifndef COOPER_IO_IMAGES_IMAGE_TRANSFORM_H_
#define COOPER_IO_IMAGES_IMAGE_TRANSFORM_H_

// Makes an image of any size as large as the samples of a batch: resizes, pads and crops it, as
// MXNet's ImageRecordIter does.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/image.h"
#include "io/images/image_codec.h"
#include "io/images/resize_image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// The names and defaults are MXNet's.
struct ImageTransformOptions {
  Shape data_shape;     // required: (1, 3 or 4 channels, height, width)
  int64_t resize = -1;  // the shorter edge is resized to it first; -1: it is not
  // The number of pixels of fill_value that are added on each side, before the crop; at most 16384.
  int64_t pad = 0;
  uint8_t fill_value = 255;
  // Whether the crop of data_shape is at a random place, not in the centre. An image that is
  // smaller than data_shape is enlarged until both edges fit.
  bool rand_crop = false;
  bool mirror = false;       // exchanges left and right
  bool rand_mirror = false;  // exchanges left and right in a random half of the images
  InterMethod inter_method = InterMethod::kBilinear;
};

// kInvalidArgument, naming the option, for one that is not as above.
absl::Status CheckImageTransform(const ImageTransformOptions& options);

// kInvalidArgument, naming the option, if one of these is not as above.
absl::Status CheckResize(const Shape& data_shape, int64_t resize, InterMethod method);

// Returns the colours to decode an image with for `data_shape`.
ImageColor ColorFor(const Shape& data_shape);

// kInvalidArgument if the image has another number of channels than data_shape.
absl::Status CheckChannels(const Image& image, const Shape& data_shape);

// Returns the image with its shorter edge resized; as it is if `resize` is -1. Errors are those of
// ResizeImage.
absl::StatusOr<Image> ResizeShorterEdge(const Image& image, int64_t resize, InterMethod method,
                                        RandomGenerator& random);

// Returns the method that MXNet chooses for kAuto or kRandom to resize an image; any other is
// returned as it is.
InterMethod ChooseInterMethod(InterMethod method, const Image& image, int64_t height, int64_t width,
                              RandomGenerator& random);

// Returns the image in the size of data_shape, not mirrored or normalized. kInvalidArgument if the
// image has another number of channels than data_shape, or a size to which it cannot be resized.
absl::StatusOr<Image> FitImage(const Image& image, const ImageTransformOptions& options,
                               RandomGenerator& random);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_TRANSFORM_H_
