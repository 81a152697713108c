#ifndef COOPER_IO_IMAGES_IMAGE_DET_ITER_H_
#define COOPER_IO_IMAGES_IMAGE_DET_ITER_H_

// Serves batches of images with objects in boxes (det_label.h) from records or files, prepared by a
// list of augmenters, as MXNet's mx.image.ImageDetIter.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/images/augment/det_augmenters.h"
#include "io/images/image_source.h"
#include "io/images/listed_image_iter.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The names and defaults are MXNet's.
struct ImageDetIterOptions {
  ImageSourceOptions images;  // with labels as in det_label.h
  ImageBatchOptions batches;
  Shape data_shape;  // required: (3, height, width)
  DetAugmenterOptions augment;
  // Takes the place of CreateDetAugmenter(data_shape, augment). Images are decoded with three
  // channels.
  std::optional<std::vector<DetAugmenter>> aug_list;
  // The largest number of objects of an image, and the numbers of an object. Without it both are
  // found by reading the labels of all images first.
  std::optional<Shape> label_shape;
  std::string label_name = "label";
};

// Data come as float32. Labels come as (batch_size, objects, numbers of an object): class, left,
// top, right, bottom in parts of the image, and further numbers; rows without an object are -1.
// Objects without an area are left out.
class ImageDetIter : public ListedImageIter {
 public:
  // Opens the images. kInvalidArgument, naming the option or file and line, for options that are
  // not as above, and for images whose objects have another number of numbers; also the errors of
  // CreateDetAugmenter, ImageSource::Open and ParseDetLabel.
  static absl::StatusOr<std::unique_ptr<ImageDetIter>> Create(const ImageDetIterOptions& options);

 private:
  using ListedImageIter::ListedImageIter;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_DET_ITER_H_
