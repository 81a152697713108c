#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_

#include <algorithm>
#include <cstdint>

namespace cooper {

// Returns the grain of ParallelFor over rows of `row` elements, at least 1: the rows that a thread
// should get for parallelism to pay. Callers lower `elements` if the work per element is greater.
inline int64_t RowGrain(int64_t row, int64_t elements = 16384) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(row, 1));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_
