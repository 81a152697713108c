#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_BOX_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_BOX_H_

// Geometry of boxes, four consecutive numbers, for the kernels of detection. Host and device; T is
// float or double. A box in the format kCorner is (xmin, ymin, xmax, ymax), in kCenter (x, y,
// width, height) with the center's coordinates. NaN gives unspecified results.

#include <cstdint>

#include "ndarray/base/host_device.h"
#include "symbol/ops/detection/box_format.h"

namespace cooper {

// The extent of a box along the axis of box[0] and box[2]; for `box + 1`, along that of box[1] and
// box[3].
template <typename T>
struct BoxSpan {
  T begin, end;

  COOPER_HOST_DEVICE BoxSpan(const T* box, BoxFormat format)
      : begin(format == BoxFormat::kCorner ? box[0] : box[0] - box[2] / 2),
        end(format == BoxFormat::kCorner ? box[2] : box[0] + box[2] / 2) {}

  // Returns the length of the intersection, at least 0.
  COOPER_HOST_DEVICE T Shared(const BoxSpan& other) const {
    const T first = begin > other.begin ? begin : other.begin;
    const T last = end < other.end ? end : other.end;
    return last - first > 0 ? last - first : T{0};
  }
};

// Returns the area; 0 for a box with a negative side.
template <typename T>
COOPER_HOST_DEVICE T BoxArea(const T* box, BoxFormat format) {
  const bool corner = format == BoxFormat::kCorner;
  const T width = corner ? box[2] - box[0] : box[2];
  const T height = corner ? box[3] - box[1] : box[3];
  return width < 0 || height < 0 ? T{0} : width * height;
}

// Returns the area of the intersection of two boxes of one format; 0 if they only touch.
template <typename T>
COOPER_HOST_DEVICE T BoxIntersection(const T* a, const T* b, BoxFormat format) {
  return BoxSpan<T>(a, format).Shared(BoxSpan<T>(b, format)) *
         BoxSpan<T>(a + 1, format).Shared(BoxSpan<T>(b + 1, format));
}

// Returns number i of `box`, whose format is `from`, in the format `to`. As in MXNet, a box whose
// first number is negative is returned unchanged: it is a suppressed box of -1, or a box that
// begins left of the image.
template <typename T>
COOPER_HOST_DEVICE T BoxNumberIn(BoxFormat to, const T* box, int64_t i, BoxFormat from) {
  if (from == to || box[0] < 0) return box[i];
  const T a = box[i % 2], b = box[i % 2 + 2];
  if (to == BoxFormat::kCenter) return i < 2 ? (a + b) / 2 : b - a;
  return i < 2 ? a - b / 2 : a + b / 2;
}

// Returns intersection over union, as _contrib_box_iou computes it: 0 for boxes without a common
// area, 1 for equal boxes. Sides may be in any unit, since only their ratio counts.
template <typename T>
COOPER_HOST_DEVICE T BoxOverlap(const T* a, const T* b, BoxFormat format) {
  const T shared = BoxIntersection(a, b, format);
  return shared <= 0 ? T{0} : shared / (BoxArea(a, format) + BoxArea(b, format) - shared);
}

// Returns intersection over union of two boxes in corner format, as the operators of SSD compute
// it: 0 where the union, computed from signed sides, is not above 0.
template <typename T>
COOPER_HOST_DEVICE T CornerOverlap(const T* a, const T* b) {
  const T shared = BoxIntersection(a, b, BoxFormat::kCorner);
  const T all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;
  return all <= 0 ? T{0} : shared / all;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_BOX_H_
