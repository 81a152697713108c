#ifndef COOPER_EXECUTOR_KERNELS_POOLING_ADAPTIVE_WINDOW_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_ADAPTIVE_WINDOW_H_

// Defines the windows along one axis of _contrib_AdaptiveAvgPooling2D, for its kernels.
//
// adaptive_avg_pooling.cc and adaptive_avg_pooling.cu apply it to rows and columns separately. All
// functions are cheap integer arithmetic and run on both devices.

#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// One axis with `out` windows over `in` pixels, both at least 1. Window o covers the pixels
// [Begin(o), End(o)): all pixels that overlap its equal share of the axis, as in PyTorch's adaptive
// pooling and in MXNet's contrib/adaptive_avg_pooling-inl.h. Exchanging `in` and `out` gives the
// range of windows that contain a pixel.
//
//   5 pixels, 3 windows: [0, 2), [1, 4), [3, 5)
struct AdaptiveAxis {
  int64_t in, out;

  // Returns floor(o * in / out), the first pixel of window o.
  COOPER_HOST_DEVICE int64_t Begin(int64_t o) const { return o * in / out; }
  // Returns ceil((o + 1) * in / out), one beyond the last pixel of window o.
  COOPER_HOST_DEVICE int64_t End(int64_t o) const { return ((o + 1) * in + out - 1) / out; }
  // Returns the number of pixels of window o, at least 1.
  COOPER_HOST_DEVICE int64_t Size(int64_t o) const { return End(o) - Begin(o); }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_ADAPTIVE_WINDOW_H_
