#ifndef COOPER_IO_IMAGES_AUGMENT_AUGMENTERS_H_
#define COOPER_IO_IMAGES_AUGMENT_AUGMENTERS_H_

// The augmenters of mx.image, under its names: each changes an image, most of them at random. A
// list of them prepares the images of an ImageIter (image_iter.h).
//
//   std::vector<Augmenter> aug_list = {
//       ResizeAug{.size = 256},
//       RandomCropAug{.size = {.height = 224, .width = 224}},
//       HorizontalFlipAug{.p = 0.5},
//       ColorJitterAug{.brightness = 0.2f, .contrast = 0.2f},
//       [](RandomGenerator& random, AnyImage* image) { return MyOwn(random, image); },
//   };
//
// Images have 8-bit samples until CastAug, or the first augmenter that changes colours, makes them
// floats. Only images of 8 bits are resized, and only those of three channels change colours.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/images/augment/color_jitter.h"
#include "io/images/codec/image.h"
#include "io/images/imgproc/resize_image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// Changes an image with numbers of `random` alone. Called from several threads. The augmenters
// below return kInvalidArgument, with their name, for sizes and ranges out of range and for images
// that they cannot change, which are then unspecified. Strengths and probabilities are checked by
// CreateAugmenter and CreateDetAugmenter, not by an augmenter.
using Augmenter = std::function<absl::Status(RandomGenerator& random, AnyImage* image)>;

// Applies augmenters in their order, up to the first error.
absl::Status ApplyAugmenters(absl::Span<const Augmenter> augmenters, RandomGenerator& random,
                             AnyImage* image);

struct ImageSize {
  int64_t height = 0, width = 0;  // at least 1
};

// Resizes the shorter edge to `size` and the other one in proportion, rounded down.
struct ResizeAug {
  int64_t size = 0;
  InterMethod interp = InterMethod::kCubic;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Resizes, whatever the ratio of the edges.
struct ForceResizeAug {
  ImageSize size;
  InterMethod interp = InterMethod::kCubic;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Takes a part at a random place, or in the centre. Where an image is smaller, the part is as large
// as it can be in the ratio of `size`, and is resized.
struct RandomCropAug {
  ImageSize size;
  InterMethod interp = InterMethod::kCubic;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};
struct CenterCropAug {
  ImageSize size;
  InterMethod interp = InterMethod::kCubic;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Takes a part with a random share of the pixels and a random ratio of width to height, and resizes
// it to `size`. A part that is not found in ten trials is that of CenterCropAug.
struct RandomSizedCropAug {
  ImageSize size;
  std::pair<double, double> area = {0.08, 1};         // within 0 to 1
  std::pair<double, double> ratio = {0.75, 4.0 / 3};  // within 0.001 to 1000
  InterMethod interp = InterMethod::kCubic;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Applies augmenters in order, or in a random order.
struct SequentialAug {
  std::vector<Augmenter> ts;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};
struct RandomOrderAug {
  std::vector<Augmenter> ts;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Multiply samples, their distance from the image's mean gray, and their distance from the pixel's
// gray, by 1 - value to 1 + value.
struct BrightnessJitterAug {
  float brightness = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};
struct ContrastJitterAug {
  float contrast = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};
struct SaturationJitterAug {
  float saturation = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};
// The three above in a random order; one whose value is 0 is left out.
struct ColorJitterAug {
  float brightness = 0, contrast = 0, saturation = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Turns the hue by -hue to hue times 180 degrees.
struct HueJitterAug {
  float hue = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Adds normal noise along the axes of colours.
struct LightingAug {
  float alphastd = 0;
  ColorAxes axes;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Makes (sample - mean) / std of each channel.
struct ColorNormalizeAug {
  std::array<float, 3> mean = {0, 0, 0}, std = {1, 1, 1};
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Removes the colours with the probability `p`; the image keeps its channels.
struct RandomGrayAug {
  double p = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Exchanges left and right with the probability `p`.
struct HorizontalFlipAug {
  double p = 0;
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// Makes samples floats.
struct CastAug {
  absl::Status operator()(RandomGenerator& random, AnyImage* image) const;
};

// The numbers that MXNet takes for `mean=True` and `std=True`.
inline constexpr std::array<float, 3> kImageNetMean = {123.68f, 116.28f, 103.53f};
inline constexpr std::array<float, 3> kImageNetStd = {58.395f, 57.12f, 57.375f};

// The options of CreateAugmenter and CreateDetAugmenter that change colours, in the order of the
// steps. The names and defaults are MXNet's.
struct AugmentColorOptions {
  float brightness = 0, contrast = 0, saturation = 0;  // ColorJitterAug
  float hue = 0;                                       // HueJitterAug
  float pca_noise = 0;                                 // LightingAug
  double rand_gray = 0;                                // RandomGrayAug
  std::optional<std::array<float, 3>> mean, std;       // ColorNormalizeAug
};

// The names and defaults are MXNet's.
struct AugmenterOptions {
  int64_t resize = 0;        // of the shorter edge; 0: none
  bool rand_crop = false;    // a part at a random place, not in the centre
  bool rand_resize = false;  // a part of random area and ratio; needs rand_crop
  bool rand_mirror = false;  // with the probability 0.5
  AugmentColorOptions color;
  InterMethod inter_method = InterMethod::kCubic;
};

// Returns the augmenters that make float images of `data_shape`, (3, height, width), in MXNet's
// order. kInvalidArgument, naming the option, for one that is not as above.
absl::StatusOr<std::vector<Augmenter>> CreateAugmenter(const Shape& data_shape,
                                                       const AugmenterOptions& options = {});

// These are shared with CreateDetAugmenter. The first returns CastAug and the augmenters of
// colours; all return kInvalidArgument, naming the option: for one out of range; unless data_shape
// is (3, height, width); and unless a range is in order, within `least` to `most`.
absl::StatusOr<std::vector<Augmenter>> CreateColorAugmenter(const AugmentColorOptions& options);
absl::Status CheckAugmentSize(const Shape& data_shape, int64_t resize, InterMethod inter_method);
absl::Status CheckAugmentRange(const char* name, const std::pair<double, double>& range,
                               double least, double most);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_AUGMENTERS_H_
