#ifndef COOPER_IO_IMAGES_NORMALIZE_IMAGE_H_
#define COOPER_IO_IMAGES_NORMALIZE_IMAGE_H_

// Writes the pixels of an image as one plane per channel, with MXNet's arithmetic.

#include <cstdint>

#include "absl/types/span.h"
#include "io/images/image.h"

namespace cooper {

// Channel c of a float image is (pixel - mean_c) / std_c * scale. The names are MXNet's.
struct ImageNormalizeOptions {
  float mean_r = 0, mean_g = 0, mean_b = 0, mean_a = 0;
  float std_r = 1, std_g = 1, std_b = 1, std_a = 1;
  float scale = 1;
};

// The order of the operations, which decides the rounding.
enum class NormalizeOrder {
  kMultiply,  // (pixel - mean) * (scale / std), of ImageRecordIter
  kDivide,    // ((pixel - mean) / std) * scale, of ImageDetRecordIter
};

// Write an image, mirrored if asked for: normalized, the pixels, or the pixels less the rounded
// mean_c, limited to -128 and 127. `out` has height * width * channels elements.
void WriteNormalized(const Image& image, bool mirrored, const ImageNormalizeOptions& options,
                     NormalizeOrder order, absl::Span<float> out);
void WritePixels(const Image& image, bool mirrored, absl::Span<uint8_t> out);
void WriteCentred(const Image& image, bool mirrored, const ImageNormalizeOptions& options,
                  absl::Span<int8_t> out);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_NORMALIZE_IMAGE_H_
