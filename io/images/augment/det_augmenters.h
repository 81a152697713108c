#ifndef COOPER_IO_IMAGES_AUGMENT_DET_AUGMENTERS_H_
#define COOPER_IO_IMAGES_AUGMENT_DET_AUGMENTERS_H_

// The augmenters of mx.image that move the boxes of objects along, under its names. A list of them
// prepares the images of an ImageDetIter (image_det_iter.h). augmenters.h has those of images
// alone, which DetBorrowAug takes.

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/augment/augmenters.h"
#include "io/images/augment/det_label.h"
#include "io/images/codec/image.h"
#include "io/images/imgproc/resize_image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// Changes an image and its objects, as an Augmenter does.
using DetAugmenter = std::function<absl::Status(RandomGenerator& random, AnyImage* image,
                                                std::vector<DetObject>* objects)>;

// Applies an augmenter that moves nothing in the image.
struct DetBorrowAug {
  Augmenter augmenter;
  absl::Status operator()(RandomGenerator& random, AnyImage* image,
                          std::vector<DetObject>* objects) const;
};

// Applies one of several augmenters, or with the probability skip_prob none.
struct DetRandomSelectAug {
  std::vector<DetAugmenter> aug_list;
  double skip_prob = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image,
                          std::vector<DetObject>* objects) const;
};

// Exchanges left and right with the probability `p`.
struct DetHorizontalFlipAug {
  double p = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image,
                          std::vector<DetObject>* objects) const;
};

// Takes a part of the image of which each object that reaches into it has more than
// min_object_covered, in parts of its area. Objects of which at most min_eject_coverage is in the
// part are left out. The image stays whole if no such part, with an object left, is found.
struct DetRandomCropAug {
  double min_object_covered = 0.1;
  std::pair<double, double> aspect_ratio_range = {0.75, 1.33};  // width by height, 0.001 to 1000
  std::pair<double, double> area_range = {0.05, 1};             // in parts of the image's, to 1000
  double min_eject_coverage = 0.3;
  int64_t max_attempts = 50;
  absl::Status operator()(RandomGenerator& random, AnyImage* image,
                          std::vector<DetObject>* objects) const;
};

// Puts the image, which has 8-bit samples, at a random place into a larger one. It stays as it is
// if none is found that is larger by two pixels in both extents.
struct DetRandomPadAug {
  std::pair<double, double> aspect_ratio_range = {0.75, 1.33};
  std::pair<double, double> area_range = {1, 3};
  int64_t max_attempts = 50;
  std::array<uint8_t, 3> pad_val = {128, 128, 128};
  absl::Status operator()(RandomGenerator& random, AnyImage* image,
                          std::vector<DetObject>* objects) const;
};

// The names and defaults are MXNet's, which has the options of `crops` and `pad` side by side, and
// lists in place of several crops.
struct DetAugmenterOptions {
  int64_t resize = 0;    // of the shorter edge; 0: none
  double rand_crop = 0;  // the probability of one of `crops`
  std::vector<DetRandomCropAug> crops = {{.area_range = {0.05, 3}}};
  bool rand_mirror = false;  // with the probability 0.5
  double rand_pad = 0;       // the probability of `pad`
  DetRandomPadAug pad = {.pad_val = {127, 127, 127}};
  AugmentColorOptions color;
  InterMethod inter_method = InterMethod::kCubic;
};

// Returns the augmenters that make float images of `data_shape`, (3, height, width), in MXNet's
// order: the options' own, a ForceResizeAug before those of the colours. kInvalidArgument, naming
// the option, for one that is not as above.
absl::StatusOr<std::vector<DetAugmenter>> CreateDetAugmenter(
    const Shape& data_shape, const DetAugmenterOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_DET_AUGMENTERS_H_
