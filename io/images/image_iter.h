#ifndef COOPER_IO_IMAGES_IMAGE_ITER_H_
#define COOPER_IO_IMAGES_IMAGE_ITER_H_

// Serves batches of images from records or files, prepared by a list of augmenters, as MXNet's
// mx.image.ImageIter.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/images/augment/augmenters.h"
#include "io/images/image_source.h"
#include "io/images/listed_image_iter.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The names and defaults are MXNet's.
struct ImageIterOptions {
  ImageSourceOptions images;
  ImageBatchOptions batches;
  Shape data_shape;  // required: (3, height, width)
  AugmenterOptions augment;
  // Takes the place of CreateAugmenter(data_shape, augment). Images are decoded with three
  // channels.
  std::optional<std::vector<Augmenter>> aug_list;
  int64_t label_width = 1;  // the number of labels of an image
  std::string label_name = "softmax_label";
  DType dtype = DType::kFloat32;  // of the labels: or int32, int64, float64
};

// Data come as float32. Labels come as (batch_size,), or (batch_size, label_width) if it is
// above 1.
class ImageIter : public ListedImageIter {
 public:
  // Opens the images. kInvalidArgument, naming the option or file and line, for options that are
  // not as above; also the errors of CreateAugmenter and ImageSource::Open.
  static absl::StatusOr<std::unique_ptr<ImageIter>> Create(const ImageIterOptions& options);

 private:
  using ListedImageIter::ListedImageIter;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_ITER_H_
