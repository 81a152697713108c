#ifndef COOPER_IO_IMAGES_IMAGE_DET_RECORD_ITER_H_
#define COOPER_IO_IMAGES_IMAGE_DET_RECORD_ITER_H_

// Serves batches of images with objects in boxes (det_label.h) from a RecordIO file, as MXNet's
// ImageDetRecordIter.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "io/images/augment/det_augment.h"
#include "io/images/augment/det_transform.h"
#include "io/images/augment/image_normalizer.h"
#include "io/images/record_iter.h"

namespace cooper {

// The names and defaults are MXNet's, except those of the deviations: MXNet's 0 is 1 here.
struct ImageDetRecordIterOptions {
  RecordIterOptions records;
  int64_t label_width = -1;  // the number of labels of each image; -1: any
  // The largest number of labels of an image. 0: it is found by reading all records of the part,
  // or path_imglist, first.
  int64_t label_pad_width = 0;
  float label_pad_value = -1;  // fills the rest of a label
  DetTransformOptions image;
  DetAugmentOptions augment;
  ImageNormalizeOptions normalize;
};

// Labels come as (batch_size, 4 + label_pad_width): channels, height and width of the image within
// data_shape, the number of its labels, these labels without objects that have no area, and
// label_pad_value.
class ImageDetRecordIter : public RecordIter {
 public:
  // Opens the files, and makes a missing mean_img. kInvalidArgument, naming the option or file and
  // line, for options that are not as above, and if the part has no records; also the errors of
  // RecordFiles, ImageNormalizer::Create and WriteMeanImage.
  static absl::StatusOr<std::unique_ptr<ImageDetRecordIter>> Create(
      const ImageDetRecordIterOptions& options);

 private:
  using RecordIter::RecordIter;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_DET_RECORD_ITER_H_
