#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_

// The grain of loops over rows on the CPU. Kernels that treat a row as a unit (softmax,
// normalisation, reductions, gathers) call it; loops over single elements give ParallelFor 16384
// directly.
//
//   ParallelFor(rows, RowGrain(columns), [&](int64_t begin, int64_t end) {
//     for (int64_t row = begin; row < end; ++row) Normalize(columns, x + row * columns);
//   });

#include <algorithm>
#include <cstdint>

namespace cooper {

// Returns the grain of ParallelFor over rows of `row` elements, at least 1: the rows that a thread
// should get so that its work takes longer than starting it. Callers lower `elements` if the work
// per element is greater. `elements` is the least number of elements per thread; the default suits
// a few operations per element. `row` may be 0. RowGrain(1000) is 16: with fewer than 32 rows the
// loop runs on one thread.
inline int64_t RowGrain(int64_t row, int64_t elements = 16384) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(row, 1));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_ROW_GRAIN_H_
