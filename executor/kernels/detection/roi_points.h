#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_ROI_POINTS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_ROI_POINTS_H_

// The sampling points of a region of _contrib_ROIAlign, for its kernels. MXNet:
// src/operator/contrib/roi_align.cc; He et al., Mask R-CNN, 2017. A bin's value is the mean of the
// image at points of a regular grid, interpolated between pixels. The grid is a product of two
// axes, so the struct of one axis describes it. Host and device; T is float or double.

#include <cmath>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// A point along one axis, between two pixels: pixels[low] * (1 - weight) + pixels[high] * weight. 0
// <= low <= high < extent and 0 <= weight < 1.
template <typename T>
struct RoiPoint {
  int64_t low, high;
  T weight;
};

// One axis of a region: `bins` bins with `points` sampling points each, over `extent` pixels.
// Regions may have any coordinates, infinities and NaN included: loops over [First(b), End(b)) stay
// short, because points outside of the pixels are left out.
//
//   for (int64_t i = axis.First(b); i < axis.End(b); ++i) {
//     RoiPoint<T> p;
//     if (axis.At(b, i, &p)) sum += x[p.low] * (1 - p.weight) + x[p.high] * p.weight;
//   }
//   return sum / axis.points;
template <typename T>
struct RoiAxis {
  T begin, bin;    // where the region begins, and the length of a bin
  T points;        // per bin; an integer that may exceed the range of integer types
  int64_t extent;  // at least 1

  // The region reaches from `first` to `last`, which are multiplied by `scale`, the ratio of the
  // feature map to the image. With `aligned`, half a pixel is subtracted, so that coordinates refer
  // to the centers of pixels. `sample_ratio` is the number of points per bin; if it is not above 0,
  // it is the length of a bin in pixels, rounded up.
  COOPER_HOST_DEVICE RoiAxis(T first, T last, float scale, bool aligned, int64_t bins,
                             int64_t sample_ratio, int64_t num_pixels)
      : extent(num_pixels) {
    const T half = aligned ? T{0.5} : T{0};
    begin = first * scale - half;
    const T length = (last * scale - half) - begin;
    // Without `aligned`, a region smaller than one pixel counts as one pixel.
    const T counted = aligned || length > 1 ? length : T{1};
    bin = counted / static_cast<T>(bins);
    points = sample_ratio > 0 ? static_cast<T>(sample_ratio) : std::ceil(bin);
  }

  // The points of bin b that may lie within the pixels are in [First(b), End(b)); the other points
  // lie outside and count as 0. The range is empty if the region is empty or NaN.
  COOPER_HOST_DEVICE int64_t First(int64_t b) const { return Index(T{-1}, b, T{-1}); }
  COOPER_HOST_DEVICE int64_t End(int64_t b) const { return Index(static_cast<T>(extent), b, T{2}); }

  // Computes point i of bin b. Returns false if it is more than one pixel outside. A point between
  // the border and one pixel outside has the value of the border pixel, as in MXNet.
  COOPER_HOST_DEVICE bool At(int64_t b, int64_t i, RoiPoint<T>* point) const {
    T at = begin + static_cast<T>(b) * bin + (static_cast<T>(i) + T{0.5}) * bin / points;
    if (!(at >= -1 && at <= static_cast<T>(extent))) return false;
    at = at > 0 ? at : T{0};
    const int64_t low = static_cast<int64_t>(at);
    if (low >= extent - 1) {
      *point = {extent - 1, extent - 1, T{0}};
    } else {
      *point = {low, low + 1, at - static_cast<T>(low)};
    }
    return true;
  }

 private:
  // Returns the index of the point of bin b at `position`, plus `margin` for rounding errors,
  // limited to [0, points].
  COOPER_HOST_DEVICE int64_t Index(T position, int64_t b, T margin) const {
    if (!(bin > 0)) return 0;
    const T i = std::floor((position - begin - static_cast<T>(b) * bin) / bin * points) + margin;
    return IntegerOf<int64_t>(i > 0 ? (i < points ? i : points) : T{0});
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_ROI_POINTS_H_
