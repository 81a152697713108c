#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_GREEDY_SUPPRESSION_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_GREEDY_SUPPRESSION_H_

// Non-maximum suppression on the CPU, for the kernels of _contrib_box_nms and
// _contrib_MultiBoxDetection. suppress_in_order.h and suppression_bits.h are for the GPU.

#include <cstdint>

namespace cooper {

// Non-maximum suppression of `count` boxes, sorted from best to worst: calls remove(j) for each
// remaining box j, is_left(j), that a remaining box i before it suppresses, suppresses(i, j). After
// remove(j), is_left(j) must be false, so that a removed box suppresses no other. O(count^2) time
// in the worst case; O(count * remaining boxes) calls of `suppresses`. Runs on the calling thread.
template <typename IsLeft, typename Suppresses, typename Remove>
void SuppressGreedily(int64_t count, const IsLeft& is_left, const Suppresses& suppresses,
                      const Remove& remove) {
  for (int64_t i = 0; i < count; ++i) {
    if (!is_left(i)) continue;
    for (int64_t j = i + 1; j < count; ++j) {
      if (is_left(j) && suppresses(i, j)) remove(j);
    }
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_GREEDY_SUPPRESSION_H_
