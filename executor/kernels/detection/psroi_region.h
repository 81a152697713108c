#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_PSROI_REGION_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_PSROI_REGION_H_

// The bins of a region of _contrib_PSROIPooling, and the channels that bins of position-sensitive
// poolings read, for the kernels of both devices. MXNet: src/operator/contrib/psroi_pooling.cc.
// deformable_psroi_bin.h has the bins of _contrib_DeformablePSROIPooling. Host and device; T is
// float or double.

#include <cmath>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Returns a * b + c, each operation rounded by itself on every processor, so that a bin begins at
// the same element on both devices. Its callers on the CPU are not compiled for instructions that
// fuse the two (ParallelForPlain).
COOPER_HOST_DEVICE inline float UnfusedProductSum(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(__fmul_rn(a, b), c);
#else
  return a * b + c;
#endif
}
COOPER_HOST_DEVICE inline double UnfusedProductSum(double a, double b, double c) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(__dmul_rn(a, b), c);
#else
  return a * b + c;
#endif
}

// Returns the position, one of `groups` along an axis, whose channels bin `bin` of `bins` reads.
// Computed in T, as MXNet does.
template <typename T>
COOPER_HOST_DEVICE int64_t PsroiGroup(int64_t bin, int64_t groups, int64_t bins) {
  const T at = std::floor(static_cast<T>(bin) * static_cast<T>(groups) / static_cast<T>(bins));
  const auto group = static_cast<int64_t>(at);
  return group < groups - 1 ? group : groups - 1;
}

// Returns the channel of data that a bin at the position (row, column) of output channel `channel`
// reads. data has groups * groups channels for each channel of the output. `row` and `column` are
// positions of PsroiGroup.
COOPER_HOST_DEVICE inline int64_t PsroiChannel(int64_t channel, int64_t groups, int64_t row,
                                               int64_t column) {
  return (channel * groups + row) * groups + column;
}

// A range [begin, end) of rows or columns; empty if begin >= end.
struct PsroiSpan {
  int64_t begin, end;

  COOPER_HOST_DEVICE bool contains(int64_t i) const { return begin <= i && i < end; }
};

// One axis of a region: `bins` bins of equal extents, whose edges are rounded outwards, so bins may
// overlap.
template <typename T>
struct PsroiAxis {
  T begin, bin;  // where the region begins, and the extent of a bin, in elements of data

  // The region reaches from `first` to `last`, both included, which are rounded and then multiplied
  // by `scale`. Its extent is at least 0.1.
  COOPER_HOST_DEVICE PsroiAxis(T first, T last, float scale, int64_t bins) {
    const T factor = static_cast<T>(scale);
    begin = std::round(first) * factor;
    const T extent = (std::round(last) + 1) * factor - begin;
    const T least = static_cast<T>(0.1);
    bin = (extent > least ? extent : least) / static_cast<T>(bins);
  }

  // Returns the elements of bin b, limited to [0, extent). A region with coordinates that are not
  // finite may have any span.
  COOPER_HOST_DEVICE PsroiSpan Span(int64_t b, int64_t extent) const {
    return {Limit(std::floor(UnfusedProductSum(static_cast<T>(b), bin, begin)), extent),
            Limit(std::ceil(UnfusedProductSum(static_cast<T>(b + 1), bin, begin)), extent)};
  }

 private:
  // Returns an edge as an index in [0, extent]. An infinite edge becomes the nearer end, NaN
  // becomes 0 (IntegerOf).
  COOPER_HOST_DEVICE static int64_t Limit(T edge, int64_t extent) {
    const int64_t whole = IntegerOf<int64_t>(edge);
    return whole < 0 ? 0 : whole < extent ? whole : extent;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_PSROI_REGION_H_
