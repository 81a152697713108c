#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_

// Reduces the columns of a matrix on the CPU: SumColumns for the gradients of biases of fully
// connected and recurrent layers and of the fused classifier, ReduceColumns for the reductions of
// map_reduce.h. sum_channels.h is the counterpart for GPUs.

#include <algorithm>
#include <cstdint>
#include <functional>

#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/reducers/reducers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Combines acc[j], for each column j < columns, with map(in[i * stride + j]) for i < rows, in the
// order of the rows, by R, a struct of reducers.h. `in` and `acc` must not overlap. Runs on the
// calling thread, within RunAtCpuLevel.
//
// Eight rows are read at a time, so that acc is read and written once for all of them.
template <typename R, typename C, typename Map = std::identity>
void ReduceColumns(const C* in, int64_t stride, int64_t rows, int64_t columns, C* acc,
                   const Map& map = {}) {
  constexpr int64_t kRows = 8;
  constexpr int64_t kWidth = 4096 / sizeof(C);  // this part of acc stays in the first-level cache
  for (int64_t begin = 0; begin < columns; begin += kWidth) {
    const int64_t end = std::min(columns, begin + kWidth);
    const C* row = in;
    int64_t left = rows;
    for (; left >= kRows; left -= kRows, row += kRows * stride) {
      COOPER_INDEPENDENT_ITERATIONS
      for (int64_t j = begin; j < end; ++j) {
        C result = acc[j];
        for (int64_t k = 0; k < kRows; ++k) result = R::Combine(result, map(row[k * stride + j]));
        acc[j] = result;
      }
    }
    for (; left > 0; --left, row += stride) {
      COOPER_INDEPENDENT_ITERATIONS
      for (int64_t j = begin; j < end; ++j) acc[j] = R::Combine(acc[j], map(row[j]));
    }
  }
}

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
                ReduceColumns<SumReducer>(in + begin, stride, rows, end - begin, sums + begin);
              });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_COLUMN_SUMS_H_
