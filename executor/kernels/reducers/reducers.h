#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCERS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCERS_H_

// Defines how values are reduced to one, for reductions on every device.
//
// Values arrive in any grouping: a device reduces parts on its own and combines their results, so
// sums of floats differ between devices in the last digits.

#include <limits>
#include <type_traits>

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// The reductions that operators use. Each has a struct below with two functions: Initial, the
// result for no values, and Combine, which is associative but for rounding. Maximum and minimum
// also have CombineNumbers. map_reduce.h runs them on the CPU, element_reduce.h on GPUs.
enum class Reducer { kSum, kProduct, kMax, kMin };  // kMax and kMin of a NaN are NaN

// Sums; integers wrap around. The sum of no values is 0.
struct SumReducer {
  template <typename C>
  COOPER_HOST_DEVICE static constexpr C Initial() {
    return 0;
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return WrapAdd(a, b);
  }
};

// Multiplies; integers wrap around. The product of no values is 1.
struct ProductReducer {
  template <typename C>
  COOPER_HOST_DEVICE static constexpr C Initial() {
    return 1;
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return WrapMul(a, b);
  }
};

// Returns the initial value of a maximum. The value is -infinity for floating types, the least
// number for integers.
template <typename C>
COOPER_HOST_DEVICE constexpr C LowestOf() {
  if constexpr (std::is_integral_v<C>) return std::numeric_limits<C>::lowest();
  return -std::numeric_limits<C>::infinity();
}

// Returns the initial value of a minimum. The value is infinity for floating types, the greatest
// number for integers.
template <typename C>
COOPER_HOST_DEVICE constexpr C HighestOf() {
  if constexpr (std::is_integral_v<C>) return std::numeric_limits<C>::max();
  return std::numeric_limits<C>::infinity();
}

// The maximum; NaN if any value is NaN. The maximum of no values is LowestOf<C>(). Of equal values
// (0 and -0 are equal) Combine returns `b`.
struct MaxReducer {
  template <typename C>
  COOPER_HOST_DEVICE static constexpr C Initial() {
    return LowestOf<C>();
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return IsNan(a) ? a : CombineNumbers(a, b);
  }
  // Returns Combine(a, b) of numbers, and `b` if either is NaN, by one instruction.
  template <typename C>
  COOPER_HOST_DEVICE static C CombineNumbers(C a, C b) {
    return a > b ? a : b;
  }
};

// The minimum; NaN if any value is NaN. The minimum of no values is HighestOf<C>(). Of equal values
// (0 and -0 are equal) Combine returns `b`.
struct MinReducer {
  template <typename C>
  COOPER_HOST_DEVICE static constexpr C Initial() {
    return HighestOf<C>();
  }
  template <typename C>
  COOPER_HOST_DEVICE static C Combine(C a, C b) {
    return IsNan(a) ? a : CombineNumbers(a, b);
  }
  // Returns Combine(a, b) of numbers, and `b` if either is NaN, by one instruction.
  template <typename C>
  COOPER_HOST_DEVICE static C CombineNumbers(C a, C b) {
    return a < b ? a : b;
  }
};

// Maps Reducer to its functions. The primary template is the sum; each other reducer has a
// specialization.
template <Reducer>
struct ReducerFunctions : SumReducer {};
template <>
struct ReducerFunctions<Reducer::kProduct> : ProductReducer {};
template <>
struct ReducerFunctions<Reducer::kMax> : MaxReducer {};
template <>
struct ReducerFunctions<Reducer::kMin> : MinReducer {};

// Operations on the result of a reduction: division, then the square root. The root is for norms.
// Their sums of squares may overflow float although the root does not; the reductions then compute
// them in double.
struct ReductionEnd {
  // The number of reduced elements for a mean; 1 for no division. 0 for a mean of no elements.
  double divisor = 1;
  // Whether the result is the root of the reduction, for a Euclidean norm.
  bool square_root = false;

  // Returns whether there is no operation.
  bool is_none() const { return divisor == 1 && !square_root; }
};

// Returns a / b, for means: the mean of no integers is 0, of no floats NaN. Integer division
// truncates towards zero.
template <typename C>
COOPER_HOST_DEVICE C ReducedQuotient(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    if (b == 0) return 0;
  }
  return a / b;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_REDUCERS_H_
