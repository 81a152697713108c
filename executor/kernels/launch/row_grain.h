#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_

#include <algorithm>
#include <cstdint>

namespace cooper {

// How many rows of `row` elements each, at least one, a thread should have for parallel work to
// pay: the grain of ParallelFor over rows. `elements` are less where more is done with each.
inline int64_t RowGrain(int64_t row, int64_t elements = 16384) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(row, 1));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_
