#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_GREEDY_SUPPRESSION_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_GREEDY_SUPPRESSION_H_

#include <cstdint>

namespace cooper {

// Non-maximum suppression of `count` boxes, the best first: each that is left, is_left(i), removes
// those behind it that are left and that it suppresses, suppresses(i, j), by remove(j).
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
