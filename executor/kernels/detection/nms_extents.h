#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_NMS_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_NMS_EXTENTS_H_

// The extents of _contrib_box_nms, for its kernels of both devices. nms_rule.h has its rules.

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The extents of _contrib_box_nms's data, (images..., boxes, width). The leading axes are merged
// into `images`; each image is suppressed alone. `data` has at least two axes. `width` is the
// number of values of a box: score, corners, and an id, if there is one.
struct NmsExtents {
  int64_t images, boxes, width;

  explicit NmsExtents(const Shape& data)
      : images(data.Product(0, data.rank() - 2)),
        boxes(data[data.rank() - 2]),
        width(data[data.rank() - 1]) {}

  // The elements of an image.
  COOPER_HOST_DEVICE int64_t size() const { return boxes * width; }

  // Returns kInvalidArgument if the number of boxes exceeds the int32 of the output `record`.
  absl::Status Check() const {
    if (boxes <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("an image has ", boxes, " boxes, expected at most 2^31 - 1"));
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_NMS_EXTENTS_H_
