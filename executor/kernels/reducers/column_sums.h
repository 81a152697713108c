#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_

// Sums the columns of a matrix on the CPU, for the gradients of biases of fully connected and
// recurrent layers and of the fused classifier. sum_channels.h is the counterpart for GPUs.

#include <algorithm>
#include <cstdint>

#include "ndarray/threads/parallel.h"

namespace cooper {

// Computes, for each column j < columns,
//
//   sums[j] = or += the sum over i < rows of in[i * stride + j]
//
// `stride` is the number of elements from one row to the next, at least `columns`. Threads share
// the columns and add rows in order, so results have the same bits for any number of threads. Sums
// are computed in T, so the rounding error grows with the number of rows. Without rows, the sums
// are 0 or, with `add`, unchanged. `in` and `sums` must not overlap.
template <typename T>
void SumColumns(const T* in, int64_t stride, int64_t rows, int64_t columns, bool add, T* sums) {
  ParallelFor(columns, std::max<int64_t>(16, 16384 / std::max<int64_t>(rows, 1)),
              [=](int64_t begin, int64_t end) {
                if (!add) std::fill(sums + begin, sums + end, T{0});
                for (int64_t i = 0; i < rows; ++i) {
                  const T* row = in + i * stride;
                  for (int64_t j = begin; j < end; ++j) sums[j] += row[j];
                }
              });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_
