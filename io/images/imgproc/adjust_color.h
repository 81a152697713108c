#ifndef COOPER_IO_IMAGES_IMGPROC_ADJUST_COLOR_H_
#define COOPER_IO_IMAGES_IMGPROC_ADJUST_COLOR_H_

// Changes the colours of images with floats, as the augmenters of mx.image do: nothing is rounded
// or limited. edit_image.h has such functions for 8-bit images, with OpenCV's arithmetic.

#include <array>

#include "io/images/codec/image.h"

namespace cooper {

// Returns the image with floats in place of bytes.
FloatImage ToFloats(const Image& image);

// Multiplies each sample.
void AdjustBrightness(float factor, FloatImage* image);

// These are for images with three channels. The first two multiply the distance from gray, which
// has 0.299, 0.587 and 0.114 of red, green and blue: from the mean of all pixels, and from the
// pixel's own.
void AdjustContrast(float factor, FloatImage* image);
void AdjustSaturation(float factor, FloatImage* image);
// Turns the hue by `half_turns` * 180 degrees in the plane of I and Q of YIQ.
void AdjustHue(double half_turns, FloatImage* image);
// Sets all channels to 0.21 red + 0.72 green + 0.07 blue.
void RemoveColors(FloatImage* image);
// Adds to the channels.
void ShiftColors(const std::array<float, 3>& shifts, FloatImage* image);
// Sets the channels to (sample - mean) / deviation.
void NormalizeColors(const std::array<float, 3>& means, const std::array<float, 3>& deviations,
                     FloatImage* image);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMGPROC_ADJUST_COLOR_H_
