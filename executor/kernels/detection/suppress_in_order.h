#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_

// Parts of non-maximum suppression on a GPU. For .cu files.

#include <cstdint>

namespace cooper {

// How many of [0, n) count: a thread's own loop, of which there is one for each of n items. Nothing
// need be sorted, but n^2 items are looked at: of more than some ten thousand a sort is faster.
template <typename Fn>
__device__ int64_t CountIf(int64_t n, Fn&& counts) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += counts(i) ? 1 : 0;
  return count;
}

// How many of [0, n) hold, where those that do come first.
template <typename Fn>
__device__ int64_t CountFirst(int64_t n, Fn&& holds) {
  int64_t low = 0;
  while (low < n) {
    const int64_t middle = low + (n - low) / 2;
    if (holds(middle)) {
      low = middle + 1;
    } else {
      n = middle;
    }
  }
  return low;
}

// All threads of a block together: each of `count` boxes, the best first, that is left removes
// those behind it that are left and that it suppresses.
template <typename IsLeft, typename Suppresses, typename Remove>
__device__ void SuppressInOrder(int64_t count, IsLeft&& is_left, Suppresses&& suppresses,
                                Remove&& remove) {
  for (int64_t i = 0; i < count; ++i) {
    if (!is_left(i)) continue;
    for (int64_t j = i + 1 + threadIdx.x; j < count; j += blockDim.x) {
      if (is_left(j) && suppresses(i, j)) remove(j);
    }
    __syncthreads();
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_
