#ifndef COOPER_EXECUTOR_KERNELS_POOLING_ADAPTIVE_WINDOW_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_ADAPTIVE_WINDOW_H_

// The windows of one axis of _contrib_AdaptiveAvgPooling2D, for its kernels.

#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// Of `out` windows over `in` pixels, both at least 1, window o has the pixels [Begin(o), End(o)):
// all that it covers a part of, where the windows share the axis equally. The windows that pixel i
// is in are those of the axis with `in` and `out` exchanged.
struct AdaptiveAxis {
  int64_t in, out;

  COOPER_HOST_DEVICE int64_t Begin(int64_t o) const { return o * in / out; }
  COOPER_HOST_DEVICE int64_t End(int64_t o) const { return ((o + 1) * in + out - 1) / out; }
  COOPER_HOST_DEVICE int64_t Size(int64_t o) const { return End(o) - Begin(o); }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_ADAPTIVE_WINDOW_H_
