#ifndef COOPER_EXECUTOR_KERNELS_POOLING_POOLING_SPAN_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_POOLING_SPAN_H_

// Computes which elements of one axis a window of Pooling covers, for both devices.
//
// pooling_window.h combines three spans to a window on the CPU, pooling_windows.h does so on a GPU.

#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// The elements of one axis that a window covers, in numbers of elements.
struct PoolingSpan {
  int64_t begin, end;  // the elements inside the image
  int64_t with_pad;    // the number of elements, padding included
  bool padded;         // whether the window covers padding
};

// Returns the span of the window at `position` on an axis of `extent` elements. `kernel` and
// `stride` are in elements, and `pad` is the padding on each side. A window that extends beyond the
// padding, as pooling_convention "full" permits, is cut at its end. For example, position 0 with
// stride 2, pad 1, kernel 3 and extent 5 gives begin 0, end 2, with_pad 3.
COOPER_HOST_DEVICE inline PoolingSpan PoolingSpanAt(int64_t position, int64_t stride, int64_t pad,
                                                    int64_t kernel, int64_t extent) {
  const int64_t begin = position * stride - pad;
  const int64_t with_pad = extent + pad;
  const int64_t end = begin + kernel < with_pad ? begin + kernel : with_pad;
  const int64_t first = begin > 0 ? begin : 0;
  const int64_t inside = end < extent ? end : extent;
  return {first, inside > first ? inside : first, end - begin, begin < 0 || end > extent};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_POOLING_SPAN_H_
