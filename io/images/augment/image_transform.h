#ifndef COOPER_IO_IMAGES_AUGMENT_IMAGE_TRANSFORM_H_
#define COOPER_IO_IMAGES_AUGMENT_IMAGE_TRANSFORM_H_

// Makes an image of any size as large as the samples of a batch: resizes, maps, pads and crops it,
// as MXNet's ImageRecordIter does.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/images/imgproc/resize_image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// The names and defaults are MXNet's. Ranges are uniform.
struct ImageTransformOptions {
  Shape data_shape;  // required: (1, 3 or 4 channels, height, width)
  InterMethod inter_method = InterMethod::kBilinear;

  // The steps come in this order. The shorter edge is resized to `resize`; -1: it is not.
  int64_t resize = -1;

  // The image is rotated by -max_rotate_angle to max_rotate_angle degrees, or by `rotate` if it is
  // above 0; sheared by -max_shear_ratio to max_shear_ratio; and scaled by min_random_scale to
  // max_random_scale, its extents between min_img_size and max_img_size. The ratio of width to
  // height is changed by min_aspect_ratio to max_aspect_ratio, or without min_aspect_ratio by
  // 1 - max_aspect_ratio to 1 + max_aspect_ratio.
  int64_t max_rotate_angle = 0;
  int64_t rotate = -1;
  float max_shear_ratio = 0;
  float min_random_scale = 1, max_random_scale = 1;
  float min_img_size = 0, max_img_size = 1e10f;
  float max_aspect_ratio = 0;
  std::optional<float> min_aspect_ratio;

  // The number of pixels that are added on each side, at most 16384.
  int64_t pad = 0;
  uint8_t fill_value = 255;  // of pixels that are added, and of those outside a mapped image

  // The image is cropped: to data_shape, after enlarging it until both edges fit; or to a square of
  // min_crop_size to max_crop_size, or with random_resized_crop to min_random_area to
  // max_random_area of its pixels in the ratio of max_aspect_ratio above, which are then resized to
  // data_shape. An area that is not found in ten trials is data_shape in the centre.
  bool rand_crop = false;  // whether the first two crops are at a random place, not in the centre
  int64_t min_crop_size = -1, max_crop_size = -1;  // both or none
  bool random_resized_crop = false;                // excludes crop sizes, scales and rand_crop
  float min_random_area = 1, max_random_area = 1;

  bool mirror = false;       // exchanges left and right
  bool rand_mirror = false;  // exchanges left and right in a random half of the images
};

// kInvalidArgument, naming the option, for one that is not as above.
absl::Status CheckImageTransform(const ImageTransformOptions& options);

// kInvalidArgument, naming the option, if one of these is not as above.
absl::Status CheckResize(const Shape& data_shape, int64_t resize, InterMethod method);

// Returns the colours to decode an image with for `data_shape`.
ImageColor ColorFor(const Shape& data_shape);

// kInvalidArgument if the image has another number of channels than data_shape.
absl::Status CheckChannels(const Image& image, const Shape& data_shape);

// Returns the image in another size. kAuto and kRandom choose one of MXNet's methods. Errors are
// those of ResizeImage.
absl::StatusOr<Image> ResizeBy(const Image& image, int64_t height, int64_t width,
                               InterMethod method, RandomGenerator& random);

// Returns the image with its shorter edge resized and the other one in proportion, rounded down; as
// it is if `resize` is -1. Errors are those of ResizeImage.
absl::StatusOr<Image> ResizeShorterEdge(Image image, int64_t resize, InterMethod method,
                                        RandomGenerator& random);

// Returns the image in the size of data_shape, not mirrored. kInvalidArgument if the image has
// another number of channels than data_shape, a size to which it cannot be resized, or is smaller
// than max_crop_size.
absl::StatusOr<Image> FitImage(Image image, const ImageTransformOptions& options,
                               RandomGenerator& random);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_IMAGE_TRANSFORM_H_
