#ifndef COOPER_IO_IMAGES_IMGPROC_EDIT_IMAGE_H_
#define COOPER_IO_IMAGES_IMGPROC_EDIT_IMAGE_H_

// Cuts, extends and mirrors images, and changes their colours with OpenCV's arithmetic.

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "io/images/codec/image.h"

namespace cooper {

// Returns the part of an image that begins at (top, left). It must be inside of the image. `T` is
// uint8_t or float.
template <typename T>
BasicImage<T> CropImage(const BasicImage<T>& image, int64_t top, int64_t left, int64_t height,
                        int64_t width);

// Exchanges left and right. `T` is uint8_t or float.
template <typename T>
void MirrorImage(BasicImage<T>* image);

// The numbers of pixels that PadImage adds on each side, at least 0.
struct ImageBorder {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
};

// Returns the image with a border whose pixels have the channels `fill`. kInvalidArgument, with the
// sizes, if the result has more than kMaxImagePixels (image_codec.h).
absl::StatusOr<Image> PadImage(const Image& image, const ImageBorder& border,
                               const std::array<uint8_t, 4>& fill);
// Pads with `value`, whose alpha is 0, as MXNet's.
absl::StatusOr<Image> PadImage(const Image& image, const ImageBorder& border, uint8_t value);

// Sets each sample to sample * factor + offset, rounded to even and limited to 0 and 255.
void ScaleSamples(float factor, float offset, Image* image);

// These are for images with three channels.

// Returns the mean of the gray values. As in MXNet, red has the weight of blue: 0.114.
float MeanGray(const Image& image);

// Moves each pixel away from its gray value, by a factor. Gray as in MeanGray.
void Saturate(float factor, Image* image);

// Adds to hue (0 to 180, half degrees), lightness and saturation (0 to 255), which are limited.
void ShiftHls(int hue, int lightness, int saturation, Image* image);

// Adds to red, green and blue; sums are rounded towards 0 and limited.
void ShiftRgb(float red, float green, float blue, Image* image);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMGPROC_EDIT_IMAGE_H_
