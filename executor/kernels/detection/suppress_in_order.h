#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_

// Helpers for ranking and for non-maximum suppression on a GPU. For .cu files.

#include <cstdint>

namespace cooper {

// Returns for how many i of [0, n) counts(i) is true, in one thread. A kernel that ranks n items by
// one such loop each needs no sort but O(n^2) time; above some ten thousand items a sort is faster.
template <typename Fn>
__device__ int64_t CountIf(int64_t n, Fn&& counts) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += counts(i) ? 1 : 0;
  return count;
}

// Returns the length of the prefix of [0, n) that `holds`, by bisection: no i after it may hold.
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

// Non-maximum suppression of `count` boxes, sorted from best to worst: calls remove(j) for each
// remaining box that a remaining box before it suppresses. All threads of a block call it.
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
