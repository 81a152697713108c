#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPERBOLIC_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPERBOLIC_H_

// Hyperbolic functions and their inverses without branches or calls (vector_math.h). The errors are
// at most 3 units in the last place (vector_math_test.cc).

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Beyond it cosh overflows.
template <typename C>
inline constexpr C kHyperbolicLimit = sizeof(C) == 4 ? C(89.5) : C(711);

// m + m / (2m + 1) with m = (exp(|x|) - 1) / 2, which does not cancel near 0; m by quarters,
// since exp(|x|) may overflow where the result does not.
template <typename C>
COOPER_HOST_DEVICE C VectorSinh(C x) {
  const C a = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(a);
  const C quarter = VectorExp2(n - 2);
  const C m = C{2} * (expm1 * quarter + (quarter - C{0.25}));
  const C sum = m + m / (C{2} * m + C{1});
  const C y = m <= std::numeric_limits<C>::max() ? sum : m;  // infinity and NaN
  return std::copysign(a > kHyperbolicLimit<C> ? std::numeric_limits<C>::infinity() : y, x);
}

// h + 1 / (4h) with h = exp(|x|) / 2.
template <typename C>
COOPER_HOST_DEVICE C VectorCosh(C x) {
  const C a = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(a);
  const C h = (expm1 + C{1}) * VectorExp2(n - 2) * C{2};
  const C y = h + C{0.25} / h;
  return a > kHyperbolicLimit<C> ? std::numeric_limits<C>::infinity() : y;
}

// Beyond it log(2x) is the inverse of sinh and cosh, whose squares would overflow: 2^30, 2^60.
template <typename C>
inline constexpr C kLargeOfHyperbolic = sizeof(C) == 4 ? C(1 << 30) : C(int64_t{1} << 60);

template <typename C>
COOPER_HOST_DEVICE C VectorArcsinh(C x) {
  const C a = std::fabs(x);
  const bool large = a > kLargeOfHyperbolic<C>;
  const C square = a * a;
  const C t = large ? a : a + square / (C{1} + std::sqrt(C{1} + square));
  const C y = VectorLog1p(t) + (large ? C(std::numbers::ln2) : C{0});
  return std::copysign(y, x);
}

template <typename C>
COOPER_HOST_DEVICE C VectorArccosh(C x) {
  const bool large = x > kLargeOfHyperbolic<C>;
  const C above = x - C{1};
  const C root = std::sqrt(above * (x + C{1}));
  const C t = large ? x : above + root;
  const C y = VectorLog1p(t) + (large ? C(std::numbers::ln2) : C{0});
  return x < 1 ? std::numeric_limits<C>::quiet_NaN() : y;
}

template <typename C>
COOPER_HOST_DEVICE C VectorArctanh(C x) {
  const C a = std::fabs(x);
  return std::copysign(C{0.5} * VectorLog1p(C{2} * a / (C{1} - a)), x);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPERBOLIC_H_
