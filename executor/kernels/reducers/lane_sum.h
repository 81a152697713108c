#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_LANE_SUM_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_LANE_SUM_H_

// Sums contiguous elements in eight lanes, which the compiler vectorises; it may not reorder a
// plain floating-point sum. The order depends on n alone.
//
// CPU kernels call it for one row or one part of a row; map_reduce.h serves whole arrays.

#include <cstdint>

namespace cooper {

// Returns the sum of term(i), of type C, over [0, n). `term` is called once for each i, in
// ascending order. The eight lanes are combined in a tree, then the last n % 8 terms are added one
// by one. Returns 0 for n = 0. Each lane adds n / 8 terms, so the rounding error is smaller than
// that of a plain loop.
template <typename C, typename Term>
C LaneSum(int64_t n, Term&& term) {
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  C sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
          ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  for (; i < n; ++i) sum += term(i);
  return sum;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_LANE_SUM_H_
