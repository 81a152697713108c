#ifndef COOPER_IO_IMAGES_AUGMENT_IMAGE_NORMALIZER_H_
#define COOPER_IO_IMAGES_AUGMENT_IMAGE_NORMALIZER_H_

// Writes the pixels of an image as one plane per channel, with MXNet's arithmetic.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/images/codec/image.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Channel c of a float image is (pixel - mean_c) / std_c * scale. The names are MXNet's.
struct ImageNormalizeOptions {
  // A file with an array of the shape data_shape, whose elements are subtracted in place of mean_c.
  // The iterators over records make a file that does not exist (io/images/mean_image.h).
  std::string mean_img;
  float mean_r = 0, mean_g = 0, mean_b = 0, mean_a = 0;
  float std_r = 1, std_g = 1, std_b = 1, std_a = 1;
  float scale = 1;
};

// Returns kInvalidArgument, naming the option, for numbers that are not finite, for a deviation of
// 0, and for mean_img beside means. Reads no file.
absl::Status CheckImageNormalize(const ImageNormalizeOptions& options);

// Images have the channels, height and width of `data_shape`, and `out` as many elements. Exchanges
// left and right if `mirrored`. Thread-safe.
class ImageNormalizer {
 public:
  // Reads mean_img. kInvalidArgument if it has not one array of floats of the shape `data_shape`;
  // also the errors of CheckImageNormalize and LoadNamedArrays.
  static absl::StatusOr<ImageNormalizer> Create(const ImageNormalizeOptions& options,
                                                const Shape& data_shape);

  // Writes (pixel - mean) * (contrast * scale / std) + illumination * scale / std, as
  // ImageRecordIter.
  void WriteScaled(const Image& image, bool mirrored, float contrast, float illumination,
                   absl::Span<float> out) const;
  // Writes ((pixel - mean) / std) * scale, as ImageDetRecordIter.
  void WriteDivided(const Image& image, absl::Span<float> out) const;
  // Writes the pixels less the rounded means, limited to -128 and 127.
  void WriteCentred(const Image& image, bool mirrored, absl::Span<int8_t> out) const;

 private:
  explicit ImageNormalizer(const ImageNormalizeOptions& options);
  // The number that is subtracted from each element of a plane.
  struct Mean {
    float all;              // from each, without `elements`
    const float* elements;  // null without mean_img
    float At(size_t element) const { return elements == nullptr ? all : elements[element]; }
  };
  Mean MeanOf(int64_t channel, const Image& image) const;

  float means_[4], deviations_[4], scale_;
  std::vector<float> mean_image_;  // in planes; empty without mean_img
};

// Writes the pixels, mirrored if asked for.
void WritePixels(const Image& image, bool mirrored, absl::Span<uint8_t> out);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_IMAGE_NORMALIZER_H_
