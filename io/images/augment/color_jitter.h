#ifndef COOPER_IO_IMAGES_AUGMENT_COLOR_JITTER_H_
#define COOPER_IO_IMAGES_AUGMENT_COLOR_JITTER_H_

// Changes the colours of an image at random, as MXNet's ImageRecordIter does.

#include <array>

#include "absl/status/status.h"
#include "io/images/codec/image.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// The names and defaults are MXNet's. By default colours stay as they are.
struct ColorJitterOptions {
  // Factors from 1 - value to 1 + value: of the samples; of their distance from the image's mean
  // gray; of their distance from the pixel's gray. They come in a random order.
  float brightness = 0, contrast = 0, saturation = 0;
  // The most that is added to hue (0 to 180), saturation and lightness (0 to 255).
  int random_h = 0, random_s = 0, random_l = 0;
  // The standard deviation of the noise along the principal axes of ImageNet's colours.
  float pca_noise = 0;
};

// kInvalidArgument, naming the option, for one that is negative or not finite, and for one that is
// not 0 if `data_shape` has not three channels.
absl::Status CheckColorJitter(const ColorJitterOptions& options, const Shape& data_shape);

// The principal axes of the colours of a set of images. The defaults are ImageNet's, as in MXNet.
struct ColorAxes {
  std::array<float, 3> eigval = {55.46f, 4.794f, 1.148f};
  std::array<std::array<float, 3>, 3> eigvec = {{{-0.5675f, 0.7192f, 0.4009f},  // red
                                                 {-0.5808f, -0.0045f, -0.8140f},
                                                 {-0.5836f, -0.6948f, 0.4203f}}};
};

// Returns what normal noise along the axes adds to red, green and blue.
std::array<float, 3> DrawLighting(float deviation, const ColorAxes& axes, RandomGenerator& random);

// Changes an image, which has three channels unless all options are 0.
void JitterColors(const ColorJitterOptions& options, RandomGenerator& random, Image* image);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_COLOR_JITTER_H_
