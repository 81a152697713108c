#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "ndarray/threads/parallel.h"

namespace cooper {

// Writes or adds the sum over i of in[i * stride + j] to sums[j], as for the gradient of a bias.
// Threads share the columns and add rows in order, so results have the same bits for any number of
// threads.
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
