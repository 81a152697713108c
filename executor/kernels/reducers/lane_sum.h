#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_LANE_SUM_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_LANE_SUM_H_

// Sums contiguous elements in lanes, which the compiler vectorises; it may not reorder a plain
// floating-point sum. The order depends on n alone.
//
// CPU kernels call it for one row or one part of a row; map_reduce.h serves whole arrays.

#include <cstdint>

#include "executor/kernels/loops/wrapping.h"

namespace cooper {

// Returns the sum of term(i), of type C, over [0, n). `term` is called once for each i, in
// ascending order. Returns 0 for n = 0; sums of integers wrap around.
//
// There are 16 lanes: with 8, g++ 12 vectorises the loop over i for AVX-512 instead, by shuffles
// that take five times as long; more lanes cost short sums more than they save long ones. The
// upper lanes are added to the lower ones, then terms in eight lanes, and the last n % 8 terms one
// by one. Each lane adds n / 16 terms, so the rounding error is smaller than that of a plain loop.
template <typename C, typename Term>
C LaneSum(int64_t n, Term&& term) {
  constexpr int kLanes = 16, kHalf = kLanes / 2;  // unrolled, so that they are registers
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) lanes[k] = WrapAdd(lanes[k], term(i + k));
  }
#pragma GCC unroll 8
  for (int k = 0; k < kHalf; ++k) lanes[k] = WrapAdd(lanes[k], lanes[k + kHalf]);
  for (; i + kHalf <= n; i += kHalf) {
#pragma GCC unroll 8
    for (int k = 0; k < kHalf; ++k) lanes[k] = WrapAdd(lanes[k], term(i + k));
  }
  C sum = WrapAdd(WrapAdd(WrapAdd(lanes[0], lanes[1]), WrapAdd(lanes[2], lanes[3])),
                  WrapAdd(WrapAdd(lanes[4], lanes[5]), WrapAdd(lanes[6], lanes[7])));
  for (; i < n; ++i) sum = WrapAdd(sum, term(i));
  return sum;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_LANE_SUM_H_
