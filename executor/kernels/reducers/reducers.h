#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCERS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCERS_H_

// How values are reduced to one, for reductions on every device.

#include <limits>
#include <type_traits>

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/host_device.h"

namespace cooper {

enum class Reducer { kSum, kProduct, kMax, kMin };  // kMax and kMin of a NaN are NaN

struct SumReducer {
  template <typename C>
  COOPER_HOST_DEVICE static C Initial() {
    return 0;
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return WrapAdd(a, b);
  }
};

struct ProductReducer {
  template <typename C>
  COOPER_HOST_DEVICE static C Initial() {
    return 1;
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return WrapMul(a, b);
  }
};

template <typename C>
COOPER_HOST_DEVICE constexpr C LowestOf() {
  if constexpr (std::is_integral_v<C>) return std::numeric_limits<C>::lowest();
  return -std::numeric_limits<C>::infinity();
}

template <typename C>
COOPER_HOST_DEVICE constexpr C HighestOf() {
  if constexpr (std::is_integral_v<C>) return std::numeric_limits<C>::max();
  return std::numeric_limits<C>::infinity();
}

struct MaxReducer {
  template <typename C>
  COOPER_HOST_DEVICE static C Initial() {
    return LowestOf<C>();
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return IsNan(a) || a > b ? a : b;
  }
};

struct MinReducer {
  template <typename C>
  COOPER_HOST_DEVICE static C Initial() {
    return HighestOf<C>();
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return IsNan(a) || a < b ? a : b;
  }
};

// What is done to results: they are divided, then their square root is taken. A root is that of a
// sum of squares, which may be beyond float though the root is not: float arrays get it right too.
struct ReductionEnd {
  double divisor = 1;
  bool square_root = false;

  // Nothing.
  bool is_none() const { return divisor == 1 && !square_root; }
};

// The mean of no integers is 0; of no floats it is NaN.
template <typename C>
COOPER_HOST_DEVICE C ReducedQuotient(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    if (b == 0) return 0;
  }
  return a / b;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCERS_H_
