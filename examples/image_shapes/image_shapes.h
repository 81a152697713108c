#ifndef COOPER_EXAMPLES_IMAGE_SHAPES_IMAGE_SHAPES_H_
#define COOPER_EXAMPLES_IMAGE_SHAPES_IMAGE_SHAPES_H_

// Classifies images of any height and width in buckets by shape, on generated data.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

struct ShapedImages {
  std::vector<NDArray> images;  // (1, height, width) each
  std::vector<int> classes;     // 0 ... 3
};

// Returns `count` images, upright and horizontal ones with sides of 12 to 48 pixels: stripes in one
// of three directions or a checkerboard, with noise.
ShapedImages MakeShapedImages(int64_t count, uint64_t seed);

// Returns batches in the six buckets (height, width) with the least padding. A batch has the pixels
// of about 16 images of mean size, so that large images come in small batches.
absl::StatusOr<std::unique_ptr<BucketIter>> ImageBatches(const ShapedImages& images, uint64_t seed);

// Maps data (batch_size, 1, key[0], key[1]) to probabilities (batch_size, 4).
Symbol ImageNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainImages(const ShapedImages& images,
                                                             int num_epoch);

// Returns the fraction of images that are classified correctly.
absl::StatusOr<double> ImageAccuracy(BucketingModule& model, const ShapedImages& images);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_IMAGE_SHAPES_IMAGE_SHAPES_H_
