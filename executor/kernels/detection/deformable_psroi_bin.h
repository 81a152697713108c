#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_DEFORMABLE_PSROI_BIN_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_DEFORMABLE_PSROI_BIN_H_

// The sampling points of a bin of _contrib_DeformablePSROIPooling, for the kernels of both devices.
// MXNet: src/operator/contrib/deformable_psroi_pooling.cc. The points of a bin are a product of two
// axes, and whether a point counts depends on each axis alone. psroi_region.h has the channels that
// bins read. Host and device; T is float or double.

#include <cmath>
#include <cstdint>

#include "executor/kernels/detection/psroi_region.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// A point along one axis, between two pixels: pixels[low] * (1 - weight) + pixels[high] * weight. 0
// <= low <= high < extent and 0 <= weight < 1; low = high at a pixel.
template <typename T>
struct DeformableBinPoint {
  int64_t low, high;
  T weight;

  // Returns the weight of a pixel in the point, 0 if it is neither low nor high.
  COOPER_HOST_DEVICE T WeightOf(int64_t pixel) const {
    return (pixel == low ? 1 - weight : T{0}) + (pixel == high ? weight : T{0});
  }
};

// One axis of a region.
template <typename T>
struct DeformablePsroiAxis {
  T begin, length;  // of the region, in pixels of data

  // The region reaches from `first` to `last`, both included, which are rounded, then multiplied by
  // `scale`; pixels are points half a pixel from their edges. The length is at least 0.1.
  COOPER_HOST_DEVICE DeformablePsroiAxis(T first, T last, float scale) {
    const T factor = static_cast<T>(scale), half = static_cast<T>(0.5);
    begin = UnfusedProductSum(std::round(first), factor, -half);
    const T end = UnfusedProductSum(std::round(last) + 1, factor, -half);
    const T least = static_cast<T>(0.1);
    length = end - begin > least ? end - begin : least;
  }
};

// The points of one bin along one axis.
template <typename T>
struct DeformablePsroiBin {
  T begin, step;  // the first point, and the distance to the next
  int64_t extent;

  // Bin `bin` of `bins` with `points` points, shifted by `shift` times the length of the region.
  // `pixels` is the extent of data, at least 1.
  COOPER_HOST_DEVICE DeformablePsroiBin(const DeformablePsroiAxis<T>& axis, int64_t bin,
                                        int64_t bins, int64_t points, T shift, int64_t pixels)
      : extent(pixels) {
    const T size = axis.length / static_cast<T>(bins);
    step = size / static_cast<T>(points);
    const T unshifted = UnfusedProductSum(static_cast<T>(bin), size, axis.begin);
    begin = UnfusedProductSum(shift, axis.length, unshifted);
  }

  // Computes point i. Returns false if it is outside of the image, whose edges are half a pixel
  // outside of the first and the last pixel. Between an edge and the pixel next to it a point has
  // that pixel's value. A position that is NaN is outside. `point` is written only if the result is
  // true.
  COOPER_HOST_DEVICE bool At(int64_t i, DeformableBinPoint<T>* point) const {
    const T half = static_cast<T>(0.5);
    T at = UnfusedProductSum(static_cast<T>(i), step, begin);
    if (!(at >= -half && at <= static_cast<T>(extent) - half)) return false;
    const T last = static_cast<T>(extent - 1);
    at = at > 0 ? at < last ? at : last : T{0};
    point->low = static_cast<int64_t>(std::floor(at));
    point->high = static_cast<int64_t>(std::ceil(at));
    point->weight = at - static_cast<T>(point->low);
    return true;
  }
};

// Returns the part, one of `parts` along an axis, that bin `bin` of `bins` belongs to. Computed in
// T, as MXNet does. If there are more parts than bins, some parts have no bin.
template <typename T>
COOPER_HOST_DEVICE int64_t DeformablePart(int64_t bin, int64_t bins, int64_t parts) {
  const T at = std::floor(static_cast<T>(bin) / static_cast<T>(bins) * static_cast<T>(parts));
  const auto part = static_cast<int64_t>(at);
  return part < parts - 1 ? part : parts - 1;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_DEFORMABLE_PSROI_BIN_H_
