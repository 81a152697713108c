#ifndef COOPER_IO_IMAGES_AUGMENT_DET_TRANSFORM_H_
#define COOPER_IO_IMAGES_AUGMENT_DET_TRANSFORM_H_

// Makes an image of any size fit into the samples of a batch, as MXNet's ImageDetRecordIter does.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/codec/image.h"
#include "io/images/imgproc/resize_image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// The names of MXNet's resize_mode. Both modes that keep the ratio of the edges leave the rest of
// data_shape, below and on the right, black.
enum class DetResizeMode {
  kForce,   // to data_shape, whatever the ratio of the edges
  kShrink,  // into data_shape if the image is larger, keeping the ratio
  kFit,     // until one edge is that of data_shape, keeping the ratio
};

// The names and defaults are MXNet's.
struct DetTransformOptions {
  Shape data_shape;     // required: (1, 3 or 4 channels, height, width)
  int64_t resize = -1;  // the shorter edge is resized to it before all changes; -1: it is not
  DetResizeMode resize_mode = DetResizeMode::kForce;
  InterMethod inter_method = InterMethod::kBilinear;
};

// kInvalidArgument, naming the option, for one that is not as above.
absl::Status CheckDetTransform(const DetTransformOptions& options);

// Returns the image with extents of at most those of data_shape, as resize_mode says. Errors are
// those of ResizeImage.
absl::StatusOr<Image> FitDetImage(Image image, const DetTransformOptions& options,
                                  RandomGenerator& random);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_DET_TRANSFORM_H_
