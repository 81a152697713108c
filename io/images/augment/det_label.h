#ifndef COOPER_IO_IMAGES_AUGMENT_DET_LABEL_H_
#define COOPER_IO_IMAGES_AUGMENT_DET_LABEL_H_

// The objects in an image, in the layout that MXNet's im2rec packs as labels of a record:
//
//   header_width, object_width, further numbers of the header,
//   and per object: class id, left, top, right, bottom, further numbers
//
// Coordinates are in parts of the image's width and height.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

struct DetObject {
  float id = 0;
  float left = 0, top = 0, right = 0, bottom = 0;
  std::vector<float> extra;  // object_width - 5 numbers
};

struct DetLabel {
  std::vector<float> header;  // header_width numbers: the two widths are among them
  std::vector<DetObject> objects;

  // Returns the numbers in the layout above.
  std::vector<float> ToArray() const;
};

// Reads the layout above. Objects without an area are left out, as in MXNet; no object is no error.
// kInvalidArgument, with the numbers, if header_width is not 2 up to the number of labels,
// object_width is below 5, or the labels do not end with an object.
absl::StatusOr<DetLabel> ParseDetLabel(absl::Span<const float> labels);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_DET_LABEL_H_
