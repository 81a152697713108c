#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCE_LOOPS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCE_LOOPS_H_

// The CPU's loops of reductions over contiguous memory, for map_reduce.h: the only code that is
// compiled for each pair of a reducer and a function of one element.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/kernels/reducers/column_sums.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/kernels/reducers/reducers.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {

// The loops of one reducer over F of each element of `x`, in compute type C. They run on the
// calling thread, at the CPU level. `acc` must not overlap `x`.
template <typename C>
struct ReduceLoops {
  C initial;  // the result for no elements
  C (*combine)(C, C);
  // Reduces n elements.
  C (*row)(const C* x, int64_t n);
  // Combines acc[i] with row i of n elements, for i < count.
  void (*rows)(const C* x, C* acc, int64_t count, int64_t n);
  // Combines acc[j] with column j of `rows` rows, for j < n (ReduceColumns).
  void (*columns)(const C* x, int64_t stride, int64_t rows, int64_t n, C* acc);
};

// Returns the maximum or minimum of map(x[i]), floating-point numbers, for i in [0, n). NaNs are
// looked for apart from the extreme, so that both take single instructions.
template <typename R, int kLanes, typename C, typename Map>
C ExtremeOfRow(const C* x, int64_t n, const Map& map) {
  using Flag = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;  // as wide as C: vectorised
  C lanes[kLanes];
  std::fill_n(lanes, kLanes, R::template Initial<C>());
  Flag nans[kLanes] = {}, any = 0;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] = R::CombineNumbers(lanes[k], map(x[i + k]));
    for (int k = 0; k < kLanes; ++k) nans[k] |= IsNan(map(x[i + k])) ? 1 : 0;
  }
  for (int k = 0; i < n; ++i, ++k) {
    lanes[k] = R::CombineNumbers(lanes[k], map(x[i]));
    nans[k] |= IsNan(map(x[i])) ? 1 : 0;
  }
  for (int k = 0; k < kLanes; ++k) any |= nans[k];
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] = R::CombineNumbers(lanes[k], lanes[k + width]);
  }
  return any == 0 ? lanes[0] : std::numeric_limits<C>::quiet_NaN();
}

// Reduces map(x[i]) for i in [0, n) into several partial results, which vectorises and is more
// exact than one sum.
template <Reducer kReducer, typename C, typename Map>
C ReduceRow(const C* x, int64_t n, const Map& map) {
  using R = ReducerFunctions<kReducer>;
  constexpr int kLanes = 32, kShortSum = 16, kLongSum = 512;
  constexpr bool kSum = kReducer == Reducer::kSum;
  if (n < (kSum ? kShortSum : kLanes)) {
    C result = R::template Initial<C>();
    for (int64_t i = 0; i < n; ++i) result = R::Combine(result, map(x[i]));
    return result;
  }
  if constexpr (std::is_floating_point_v<C> &&
                (kReducer == Reducer::kMax || kReducer == Reducer::kMin)) {
    return ExtremeOfRow<R, kLanes>(x, n, map);
  }
  if (kSum && n < kLongSum) return LaneSum<C>(n, [x, &map](int64_t i) { return map(x[i]); });
  C lanes[kLanes];
  std::fill_n(lanes, kLanes, R::template Initial<C>());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] = R::Combine(lanes[k], map(x[i + k]));
  }
  for (int k = 0; i < n; ++i, ++k) lanes[k] = R::Combine(lanes[k], map(x[i]));
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] = R::Combine(lanes[k], lanes[k + width]);
  }
  return lanes[0];
}

// Applies F, a function of one operand (elemwise_loop.h).
template <typename F>
struct Applied {
  template <typename C>
  C operator()(C x) const {
    return F::Apply(x);
  }
};

// Combines acc[i] with row i of n elements, for i < count.
template <Reducer kReducer, typename F, typename C>
void ReduceRows(const C* x, C* acc, int64_t count, int64_t n) {
  RunAtCpuLevel([=] {
    for (int64_t i = 0; i < count; ++i) {
      acc[i] = ReducerFunctions<kReducer>::Combine(acc[i],
                                                   ReduceRow<kReducer>(x + i * n, n, Applied<F>()));
    }
  });
}

// Returns the loops of a reducer over F. A row is reduced by the loop over rows: one copy of the
// sum.
template <Reducer kReducer, typename F, typename C>
constexpr ReduceLoops<C> MakeReduceLoops() {
  using R = ReducerFunctions<kReducer>;
  return {R::template Initial<C>(), R::template Combine<C>,
          [](const C* x, int64_t n) {
            C result = R::template Initial<C>();
            ReduceRows<kReducer, F>(x, &result, 1, n);
            return result;
          },
          ReduceRows<kReducer, F, C>,
          [](const C* x, int64_t stride, int64_t rows, int64_t n, C* acc) {
            RunAtCpuLevel([=] { ReduceColumns<R>(x, stride, rows, n, acc, Applied<F>()); });
          }};
}

// The loops over the compute types, as ElemwiseLoops has those of a function.
struct ReducerLoops {
  ReduceLoops<float> f32;
  ReduceLoops<double> f64;
  ReduceLoops<int64_t> i64;

  // Returns the loops over C, one of float, double and int64_t.
  template <typename C>
  const ReduceLoops<C>& of() const {
    if constexpr (std::is_same_v<C, float>) {
      return f32;
    } else if constexpr (std::is_same_v<C, double>) {
      return f64;
    } else {
      return i64;
    }
  }
};

// The loops of a reducer over F, an object with static lifetime. Requires F::kExactIntegers.
template <Reducer kReducer, typename F>
inline constexpr ReducerLoops kReducerLoops = {MakeReduceLoops<kReducer, F, float>(),
                                               MakeReduceLoops<kReducer, F, double>(),
                                               MakeReduceLoops<kReducer, F, int64_t>()};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCE_LOOPS_H_
