#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESS_IN_ORDER_H_

// Helpers for ranking and for non-maximum suppression on a GPU. For .cu files.
// _contrib_MultiBoxDetection uses them for all sizes, _contrib_box_nms where suppression_bits.h
// would need too much memory. greedy_suppression.h is for the CPU.

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
// Any thread may call it alone. O(log n) calls.
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
// remaining box that a remaining box before it suppresses. All threads of a block call it, with
// equal arguments; `count` and the answers of is_left must be in memory that the whole block sees,
// and the block must be synchronised before. One synchronisation per remaining box. Returns after
// the last one, so all removals are visible.
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
