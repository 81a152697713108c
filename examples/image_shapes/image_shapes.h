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

// `count` images, upright and lying ones of 12 to 48 dots: with stripes along, across, from corner
// to corner, or a board of squares, in noise.
ShapedImages MakeShapedImages(int64_t count, uint64_t seed);

// Batches in the six buckets (height, width) that leave the least padding: about 16 images of the
// mean size each, so that large images come in small batches.
absl::StatusOr<std::unique_ptr<BucketIter>> ImageBatches(const ShapedImages& images, uint64_t seed);

// data (batch_size, 1, key[0], key[1]) to probabilities (batch_size, 4).
Symbol ImageNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainImages(const ShapedImages& images,
                                                             int num_epoch);

// The share of images whose class is right.
absl::StatusOr<double> ImageAccuracy(BucketingModule& model, const ShapedImages& images);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_IMAGE_SHAPES_IMAGE_SHAPES_H_
