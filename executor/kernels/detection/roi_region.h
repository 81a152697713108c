#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_ROI_REGION_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_ROI_REGION_H_

// The bins of a region of ROIPooling (Girshick, Fast R-CNN, 2015), for its kernels of both devices.
// MXNet: src/operator/roi_pooling.cc. A bin's value is the maximum of its elements. Adjacent bins
// may share elements where the region's extent is no multiple of the number of bins: columns 0 to 6
// in two bins are [0, 4) and [3, 7). Host and device; T is float or double.

#include <cmath>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// A range [begin, end) of rows or columns; empty if begin >= end.
struct RoiSpan {
  int64_t begin, end;
};

// One region (sample, x1, y1, x2, y2), rounded to elements of the feature map; the ends are
// included, so a region with x1 = x2 has one column.
template <typename T>
struct RoiRegion {
  int64_t sample, x1, y1;  // `sample` may be outside of the batch: the kernel checks it
  T bin_h, bin_w;          // the extents of a bin, in elements

  // `roi` has five numbers, and `scale` is the ratio of the feature map to the image. pooled_h and
  // pooled_w are the numbers of bins.
  COOPER_HOST_DEVICE RoiRegion(const T* roi, float scale, int64_t pooled_h, int64_t pooled_w) {
    const T factor = static_cast<T>(scale);
    sample = IntegerOf<int64_t>(roi[0]);
    x1 = Round(roi[1] * factor);
    y1 = Round(roi[2] * factor);
    // A region with a negative extent counts as one element.
    const int64_t width = Round(roi[3] * factor) - x1 + 1;
    const int64_t height = Round(roi[4] * factor) - y1 + 1;
    bin_h = static_cast<T>(height > 1 ? height : 1) / static_cast<T>(pooled_h);
    bin_w = static_cast<T>(width > 1 ? width : 1) / static_cast<T>(pooled_w);
  }

  // Return the rows of the feature map in row `ph` of bins, and its columns in column `pw`, limited
  // to the `height` or `width` of the map. A bin outside of the map has an empty span.
  COOPER_HOST_DEVICE RoiSpan Rows(int64_t ph, int64_t height) const {
    return Span(ph, bin_h, y1, height);
  }
  COOPER_HOST_DEVICE RoiSpan Columns(int64_t pw, int64_t width) const {
    return Span(pw, bin_w, x1, width);
  }

 private:
  // Rounds, and limits the result to a range in which differences cannot overflow. Positions beyond
  // it are outside of every image.
  COOPER_HOST_DEVICE static int64_t Round(T value) {
    constexpr int64_t kFar = int64_t{1} << 40;
    const int64_t whole = IntegerOf<int64_t>(std::round(value));
    return whole < -kFar ? -kFar : whole > kFar ? kFar : whole;
  }

  // Returns [floor(bin * extent), ceil((bin + 1) * extent)) + first, limited to [0, limit).
  COOPER_HOST_DEVICE static RoiSpan Span(int64_t bin, T extent, int64_t first, int64_t limit) {
    const int64_t begin = static_cast<int64_t>(std::floor(static_cast<T>(bin) * extent)) + first;
    const int64_t end = static_cast<int64_t>(std::ceil(static_cast<T>(bin + 1) * extent)) + first;
    return {begin > 0 ? begin : 0, end < limit ? end : limit};
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_ROI_REGION_H_
