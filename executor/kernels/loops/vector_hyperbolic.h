#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPERBOLIC_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPERBOLIC_H_

// Hyperbolic functions and their inverses without branches or calls (vector_math.h). The errors are
// at most 2.5 units in the last place (vector_math_test.cc). C is float or double. Results at
// infinities, NaN, zeros and outside of the domain are those of the C library, except for the sign
// of NaN. VectorTanh is in vector_math.h.

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// A bound beyond which sinh and cosh overflow.
template <typename C>
inline constexpr C kHyperbolicLimit = sizeof(C) == 4 ? C(89.5) : C(711);

// Returns sinh(x) = m + m / (2m + 1) with m = (exp(|x|) - 1) / 2, which does not cancel near 0. It
// scales by a quarter of 2^n, since exp(|x|) may overflow where the result does not.
template <typename C>
COOPER_HOST_DEVICE C VectorSinh(C x) {
  const C a = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(a);
  const C quarter = VectorExp2(n - 2);
  const C m = C{2} * (expm1 * quarter + (quarter - C{0.25}));
  // sinh(a) = (e^a - e^-a) / 2, where m = (e^a - 1) / 2 and e^-a = 1 / (2m + 1).
  const C sum = m + m / (C{2} * m + C{1});
  const C y = m <= std::numeric_limits<C>::max() ? sum : m;  // infinity and NaN
  return std::copysign(a > kHyperbolicLimit<C> ? std::numeric_limits<C>::infinity() : y, x);
}

// Returns cosh(x) = h + 1 / (4h) with h = exp(|x|) / 2.
template <typename C>
COOPER_HOST_DEVICE C VectorCosh(C x) {
  const C a = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(a);
  const C h = (expm1 + C{1}) * VectorExp2(n - 2) * C{2};
  const C y = h + C{0.25} / h;
  return a > kHyperbolicLimit<C> ? std::numeric_limits<C>::infinity() : y;
}

// A bound beyond which log(2x) is the inverse of sinh and cosh to the last digit: 2^30 for float,
// 2^60 for double. The forms with squares are not selected beyond it, because squares could
// overflow.
template <typename C>
inline constexpr C kLargeOfHyperbolic = sizeof(C) == 4 ? C(1 << 30) : C(int64_t{1} << 60);

// Returns the inverse of sinh: log1p(a + a^2 / (1 + sqrt(1 + a^2))) with a = |x|, which does not
// cancel near 0.
template <typename C>
COOPER_HOST_DEVICE C VectorArcsinh(C x) {
  const C a = std::fabs(x);
  const bool large = a > kLargeOfHyperbolic<C>;
  const C square = a * a;
  // sinh^-1(a) = log(a + sqrt(1 + a^2)), rewritten as log1p(t) so that small a keep their digits.
  const C t = large ? a : a + square / (C{1} + std::sqrt(C{1} + square));
  const C y = VectorLog1p(t) + (large ? static_cast<C>(std::numbers::ln2) : C{0});
  return std::copysign(y, x);
}

// Returns the inverse of cosh: log1p(t) with t = (x - 1) + sqrt((x - 1)(x + 1)), which is accurate
// near 1. NaN for x < 1.
template <typename C>
COOPER_HOST_DEVICE C VectorArccosh(C x) {
  const bool large = x > kLargeOfHyperbolic<C>;
  // x - 1 is exact near 1, where x^2 - 1 would lose digits.
  const C above = x - C{1};
  const C root = std::sqrt(above * (x + C{1}));
  const C t = large ? x : above + root;
  const C y = VectorLog1p(t) + (large ? static_cast<C>(std::numbers::ln2) : C{0});
  return x < 1 ? std::numeric_limits<C>::quiet_NaN() : y;
}

// Returns the inverse of tanh: log1p(2a / (1 - a)) / 2 with a = |x|. Infinite at 1 and -1, NaN
// beyond.
template <typename C>
COOPER_HOST_DEVICE C VectorArctanh(C x) {
  const C a = std::fabs(x);
  return std::copysign(C{0.5} * VectorLog1p(C{2} * a / (C{1} - a)), x);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPERBOLIC_H_
