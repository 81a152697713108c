#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_BINARY_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_BINARY_FUNCTIONS_H_

// Functions of two elements, and their gradients as functions of (ograd, lhs, rhs), for element
// loops of every device, in the form that elemwise_loop.h describes. They serve arrays of one shape
// (elemwise_add), arrays with scalars (_plus_scalar) and broadcasting (broadcast_add). MXNet:
// src/operator/mshadow_op.h. C is float, double or, if exact_integers, int64_t; otherwise integers
// are computed in double.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/kernels/loops/vector_hypot.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Defines a function of a and b; `body` is the body of Apply. exact_integers says whether there is
// a loop over int64_t.
#define COOPER_BINARY_FUNCTION(Name, exact_integers, body) \
  struct Name {                                            \
    static constexpr int kArity = 2;                       \
    static constexpr bool kExactIntegers = exact_integers; \
    template <typename C>                                  \
    COOPER_HOST_DEVICE static C Apply(C a, C b) {          \
      body                                                 \
    }                                                      \
  }

// Defines the gradient of a function with respect to a (Lhs) or b (Rhs), for g = ograd.
// COOPER_BINARY_GRADIENT is for gradients that are computed in floating point. Gradients that other
// functions express, such as g / b of a / b, are not here.
#define COOPER_BINARY_GRADIENT_OF(Name, exact_integers, body) \
  struct Name {                                               \
    static constexpr int kArity = 3;                          \
    static constexpr bool kExactIntegers = exact_integers;    \
    template <typename C>                                     \
    COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {        \
      body                                                    \
    }                                                         \
  }
#define COOPER_BINARY_GRADIENT(Name, body) COOPER_BINARY_GRADIENT_OF(Name, false, body)

// Returns a^b for integers. A result that fits int64 is exact; a larger one, and 0 to a negative
// power, are converted from the double that std::pow returns.
COOPER_HOST_DEVICE inline int64_t IntegerPower(int64_t a, int64_t b) {
  // A negative power of an integer is 1 / a^|b|, truncated: 0 unless |a| is 1.
  if (b < 0 && a != 0) return a == 1 || a == -1 ? ((b & 1) != 0 ? a : 1) : 0;
  const double rounded = std::pow(static_cast<double>(a), static_cast<double>(b));
  if (b < 0 || !(std::fabs(rounded) < 0x1p63)) return IntegerOf<int64_t>(rounded);
  // std::pow may be inexact: CUDA computes 2.9999999999999996 for 3 to the power of 1.
  int64_t power = 1;
  // Squares a and multiplies the squares that the bits of b select.
  for (int64_t square = a; b > 0; b >>= 1, square = WrapMul(square, square)) {
    if ((b & 1) != 0) power = WrapMul(power, square);
  }
  return power;
}

// Sums, differences and products of integers wrap around.
COOPER_BINARY_FUNCTION(Add, true, return WrapAdd(a, b););
COOPER_BINARY_FUNCTION(Sub, true, return WrapSub(a, b););
COOPER_BINARY_FUNCTION(Mul, true, return WrapMul(a, b););
// An integer divided by 0 gives 0, since the division would trap.
COOPER_BINARY_FUNCTION(
    Div, true, if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if (b == -1) return WrapNegate(a);
    } return a / b;);
// If one element is NaN, the result is NaN. Of 0 and -0, the result is b.
COOPER_BINARY_FUNCTION(Maximum, true, return a != a || a > b ? a : b;);
COOPER_BINARY_FUNCTION(Minimum, true, return a != a || a < b ? a : b;);
// a^b: by IntegerPower for integers, else by VectorPow, with all digits.
// NaN for a finite a < 0 and a b that is no integer; 1 if b is 0 or a is 1, also with NaN.
COOPER_BINARY_FUNCTION(
    Power, true, if constexpr (std::is_integral_v<C>) { return IntegerPower(a, b); } else {
      return VectorPow(a, b);
    });
// sqrt(a^2 + b^2), without overflow of the squares.
COOPER_BINARY_FUNCTION(Hypot, false, return VectorHypot(a, b););
// The remainder of a / b rounded down, which has the sign of b, as in Python; 0 if b is 0.
struct Mod {
  static constexpr int kArity = 2;
  static constexpr bool kExactIntegers = true;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    if (b == 0) return 0;
    if constexpr (std::is_integral_v<C>) {
      return Floored(b == -1 ? C{0} : a % b, b);
    } else {
      return Floored(std::fmod(a, b), b);
    }
  }
  // The vector form has the results of Apply, but for the sign of a 0, where integers up to |a / b|
  // have no gaps. A rounded quotient is at most too large by 1. Then the difference is exact too
  // and has the sign of -a, so that adding b, or not, is right again.
  template <typename C>
  static bool VectorHolds(C a, C b) {
    return std::fabs(a) <= std::fabs(b) * (C{1} / std::numeric_limits<C>::epsilon());
  }
  template <typename C>
  static C ApplyVector(C a, C b) {
    const C quotient = std::trunc(a / b);
    const C difference = std::fma(-quotient, b, a);
    // An infinite b has no product with 0.
    const C floored = Floored(quotient == 0 ? a : difference, b);
    return b == 0 ? C{0} : floored;
  }

 private:
  // Returns the floored remainder of one that was rounded towards 0.
  template <typename C>
  COOPER_HOST_DEVICE static C Floored(C remainder, C b) {
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  }
};
// Comparisons and logical functions return 1 or 0 in the dtype of the output. NaN is unequal to
// every number and counts as true.
COOPER_BINARY_FUNCTION(Equal, true, return a == b;);
COOPER_BINARY_FUNCTION(NotEqual, true, return a != b;);
COOPER_BINARY_FUNCTION(Greater, true, return a > b;);
COOPER_BINARY_FUNCTION(GreaterEqual, true, return a >= b;);
COOPER_BINARY_FUNCTION(Lesser, true, return a < b;);
COOPER_BINARY_FUNCTION(LesserEqual, true, return a <= b;);
COOPER_BINARY_FUNCTION(LogicalAnd, true, return a != 0 && b != 0;);
COOPER_BINARY_FUNCTION(LogicalOr, true, return a != 0 || b != 0;);
COOPER_BINARY_FUNCTION(LogicalXor, true, return (a != 0) != (b != 0););

// For equal elements the left operand gets the gradient. With NaN neither does.
COOPER_BINARY_GRADIENT_OF(MaximumGradLhs, true, return a >= b ? g : 0;);
COOPER_BINARY_GRADIENT_OF(MaximumGradRhs, true, return a < b ? g : 0;);
COOPER_BINARY_GRADIENT_OF(MinimumGradLhs, true, return a <= b ? g : 0;);
COOPER_BINARY_GRADIENT_OF(MinimumGradRhs, true, return a > b ? g : 0;);
// The derivatives of a / b by b, of a^b by a and by b, of the remainder by b, and of hypot.
// PowerGradRhs is NaN for a < 0, and NaN for a = 0 with b > 0, as the product of 0 and -infinity.
COOPER_BINARY_GRADIENT(DivGradRhs, return -g * a / (b * b););
COOPER_BINARY_GRADIENT(PowerGradLhs, return g * b * VectorPow(a, b - 1););
COOPER_BINARY_GRADIENT(PowerGradRhs, return g * VectorPow(a, b) * VectorLog(a););
COOPER_BINARY_GRADIENT(ModGradRhs, return -g * std::floor(a / b););
COOPER_BINARY_GRADIENT(HypotGradLhs, return g * a / VectorHypot(a, b););
COOPER_BINARY_GRADIENT(HypotGradRhs, return g * b / VectorHypot(a, b););

#undef COOPER_BINARY_FUNCTION
#undef COOPER_BINARY_GRADIENT
#undef COOPER_BINARY_GRADIENT_OF

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_BINARY_FUNCTIONS_H_
