#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_SUM_SQUARES_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_SUM_SQUARES_H_

// Sums a function of all elements in double, with the same result for every number of threads.
//
// The norms of the layerwise updates and of multi_sum_sq use it; block_sums.h is the counterpart
// for GPUs. The two devices add in different orders, so their sums differ in the last digits.

#include <algorithm>
#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

namespace internal_sum {

// The elements of a block. Blocks are summed separately and their sums added in order.
inline constexpr int64_t kBlock = 16384;
// The number of blocks whose sums are kept on the stack at a time.
inline constexpr int64_t kBlocksKept = 1024;

// Returns the sum of value(i) over [begin, end), in eight lanes so that the loop vectorises. Lanes
// that the loop does not fill add to lane 0; the order depends on end - begin alone.
template <typename Fn>
double SumRange(int64_t begin, int64_t end, const Fn& value) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(value(i + lane));
  }
  for (; i < end; ++i) lanes[0] += static_cast<double>(value(i));
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

}  // namespace internal_sum

// Returns the sum of value(i) over [0, size). Calls `value` on several threads. `value` is
// thread-safe and returns a number. Blocks of 16384 elements are summed separately and added in
// order, so the bits do not depend on the number of threads. Returns 0 for size 0. Uses 8 KB of
// stack.
template <typename Fn>
double SumOver(int64_t size, const Fn& value) {
  using internal_sum::kBlock;
  using internal_sum::kBlocksKept;
  const int64_t num_blocks = (size + kBlock - 1) / kBlock;
  double sums[kBlocksKept];
  double sum = 0;
  for (int64_t first = 0; first < num_blocks; first += kBlocksKept) {
    const int64_t count = std::min(kBlocksKept, num_blocks - first);
    ParallelFor(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t at = (first + k) * kBlock;
        sums[k] = internal_sum::SumRange(at, std::min(size, at + kBlock), value);
      }
    });
    for (int64_t k = 0; k < count; ++k) sum += sums[k];
  }
  return sum;
}

// Returns the sum of the squares of n numbers. Each square is computed in C, then added in double.
// Norms of weights and gradients (LARS, LAMB, multi_sum_sq) use it. With C = float a square above
// 3.4e38 is infinite.
template <typename C, typename T>
double SumSquares(const T* values, int64_t n) {
  return SumOver(n, [values](int64_t i) {
    const C value = static_cast<C>(static_cast<ComputeType<T>>(values[i]));
    return value * value;
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_SUM_SQUARES_H_
