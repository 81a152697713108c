#ifndef COOPER_IO_IMAGES_AUGMENT_DET_AUGMENT_H_
#define COOPER_IO_IMAGES_AUGMENT_DET_AUGMENT_H_

// Changes an image and the boxes of its objects at random, as MXNet's ImageDetRecordIter does.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/augment/det_label.h"
#include "io/images/codec/image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// How parts of an image are tried. A part is taken if one object has an overlap, a sample coverage
// and an object coverage in their ranges: the area of the intersection with the part in parts of
// the union, of the part and of the object; and if an object stays in the image. The names are
// MXNet's, which has an array of each.
struct DetCropSampler {
  float min_crop_scale = 0, max_crop_scale = 1;  // root of the part's area, in parts of the image's
  float min_crop_aspect_ratio = 1, max_crop_aspect_ratio = 1;  // width by height
  float min_crop_overlap = 0, max_crop_overlap = 1;
  float min_crop_sample_coverage = 0, max_crop_sample_coverage = 1;
  float min_crop_object_coverage = 0, max_crop_object_coverage = 1;
  int64_t max_crop_trials = 25;
};

// The objects that leave a cropped image.
enum class DetCropEmitMode {
  kCenter,   // those whose centre is outside
  kOverlap,  // those of whose area at most emit_overlap_thresh is inside
};

// The names and defaults are MXNet's. The steps come in this order, each with its probability.
struct DetAugmentOptions {
  // The most that is added to or taken from hue (0 to 180), saturation and lightness (0 to 255),
  // and from the factor 1 of the samples. The first three need three channels.
  int max_random_hue = 0, max_random_saturation = 0, max_random_illumination = 0;
  float random_hue_prob = 0, random_saturation_prob = 0, random_illumination_prob = 0;
  float max_random_contrast = 0;
  float random_contrast_prob = 0;
  float rand_mirror_prob = 0;
  // The image is put at a random place into one of fill_value whose edges are up to max_pad_scale
  // times as long, unless they are below 1.05 times.
  float rand_pad_prob = 0;
  float max_pad_scale = 1;
  uint8_t fill_value = 127;
  // The samplers are tried in a random order until one finds a part; without a part the image stays
  // whole.
  float rand_crop_prob = 0;
  std::vector<DetCropSampler> crop_samplers = {DetCropSampler()};
  DetCropEmitMode crop_emit_mode = DetCropEmitMode::kCenter;
  float emit_overlap_thresh = 0.3f;
};

// kInvalidArgument, naming the option, for one that is not as above.
absl::Status CheckDetAugment(const DetAugmentOptions& options, const Shape& data_shape);

// Changes the image and moves the boxes along. kInvalidArgument if an image with a border has more
// than kMaxImagePixels.
absl::Status AugmentDet(const DetAugmentOptions& options, RandomGenerator& random, Image* image,
                        DetLabel* label);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_DET_AUGMENT_H_
