#ifndef COOPER_IO_IMAGES_IMAGE_RECORD_ITER_H_
#define COOPER_IO_IMAGES_IMAGE_RECORD_ITER_H_

// Serves batches of the images of a RecordIO file, as MXNet's ImageRecordIter,
// ImageRecordUInt8Iter and ImageRecordInt8Iter.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "io/images/augment/color_jitter.h"
#include "io/images/augment/image_normalizer.h"
#include "io/images/augment/image_transform.h"
#include "io/images/record_iter.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The names and defaults are MXNet's. The steps come in the order of the options.
struct ImageRecordIterOptions {
  RecordIterOptions records;
  int64_t label_width = 1;  // the number of labels of an image
  // kFloat32: normalized. kUint8: the pixels (ImageRecordUInt8Iter). kInt8: the pixels less the
  // rounded means, limited to -128 and 127 (ImageRecordInt8Iter).
  DType dtype = DType::kFloat32;
  ImageTransformOptions image;
  ColorJitterOptions jitter;
  ImageNormalizeOptions normalize;
  // Samples less their means are multiplied by 1 - max_random_contrast to 1 + max_random_contrast,
  // and -max_random_illumination to max_random_illumination is added. For kFloat32.
  float max_random_contrast = 0, max_random_illumination = 0;
};

// Labels come as (batch_size,), or (batch_size, label_width) if it is above 1.
class ImageRecordIter : public RecordIter {
 public:
  // Opens the files, and makes a missing mean_img. kInvalidArgument, naming the option or file and
  // line, for options that are not as above, and if the part has no records; also the errors of
  // RecordFiles, ImageNormalizer::Create and WriteMeanImage.
  static absl::StatusOr<std::unique_ptr<ImageRecordIter>> Create(
      const ImageRecordIterOptions& options);

 private:
  using RecordIter::RecordIter;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_RECORD_ITER_H_
