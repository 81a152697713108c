#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_NUMPY_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_NUMPY_FUNCTIONS_H_

// Functions of elements that only NumPy operators have, and gradients as functions of (ograd, a,
// b), for element loops of every device (elemwise_loop.h). C is float, double or, with
// kExactIntegers, int64_t.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_trig.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Base of functions of `arity` elements. Derived structs have a static Apply, which is called with
// the operands in the compute type C. `exact_integers` says whether integer dtypes are computed in
// int64_t, with every value exact, or in double.
template <int arity, bool exact_integers>
struct NumpyFunction {
  static constexpr int kArity = arity;
  static constexpr bool kExactIntegers = exact_integers;
};

// Returns whether x is infinite with the given sign, 1 or -1. False for integers, which are finite,
// and for NaN. The tests of one element below return 1 or 0 in C, which becomes a bool.
template <typename C>
COOPER_HOST_DEVICE bool IsInfinity(C x, int sign) {
  if constexpr (std::is_integral_v<C>) return false;
  return x == static_cast<C>(sign) * std::numeric_limits<C>::infinity();
}
// Whether x is NaN; false for every integer.
struct TestNan : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsNan(x) ? C{1} : C{0};
  }
};
// Whether x is infinite with either sign, with the sign +, and with the sign -.
struct TestInfinite : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsInfinity(x, 1) || IsInfinity(x, -1);
  }
};
struct TestPositiveInfinite : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsInfinity(x, 1);
  }
};
struct TestNegativeInfinite : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsInfinity(x, -1);
  }
};
// Whether x is a number: neither NaN nor infinite.
struct TestFinite : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return !IsNan(x) && !IsInfinity(x, 1) && !IsInfinity(x, -1);
  }
};

// Functions of the bits of integers in two's complement, of which the output's dtype keeps the
// lowest. Type rules refuse floats: C is float where it stands for the bits of an int32
// (NumpyBinaryKernels::Bits).
template <typename Fn, typename... C>
COOPER_HOST_DEVICE auto OfBits(Fn fn, C... x) {
  using First = std::common_type_t<C...>;
  if constexpr (std::is_same_v<First, float>) {
    return std::bit_cast<float>(static_cast<int32_t>(fn(std::bit_cast<int32_t>(x)...)));
  } else {
    return static_cast<First>(fn(static_cast<int64_t>(x)...));
  }
}
struct BitNot : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return OfBits([](auto bits) { return ~bits; }, x);
  }
};
struct BitAnd : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return OfBits([](auto x, auto y) { return x & y; }, a, b);
  }
};
struct BitOr : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return OfBits([](auto x, auto y) { return x | y; }, a, b);
  }
};
struct BitXor : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return OfBits([](auto x, auto y) { return x ^ y; }, a, b);
  }
};
// The least common multiple of |a| and |b| by Euclid's algorithm, which takes at most about 90
// divisions; 0 if one of them is 0. A multiple beyond int64 wraps around. Magnitudes are unsigned,
// so that the least int64 has one.
struct LeastCommonMultiple : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    const auto magnitude = [](C x) {
      const auto whole = static_cast<int64_t>(x);
      return whole < 0 ? uint64_t{0} - static_cast<uint64_t>(whole) : static_cast<uint64_t>(whole);
    };
    const uint64_t x = magnitude(a), y = magnitude(b);
    if (x == 0 || y == 0) return 0;
    // Divisions of 32 bits take less time.
    constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
    const uint64_t divisor = x <= kMax && y <= kMax
                                 ? CommonDivisor(static_cast<uint32_t>(x), static_cast<uint32_t>(y))
                                 : CommonDivisor(x, y);
    return static_cast<C>(static_cast<int64_t>(x / divisor * y));
  }

 private:
  template <typename U>
  COOPER_HOST_DEVICE static U CommonDivisor(U divisor, U rest) {
    while (rest != 0) {
      const U next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    return divisor;
  }
};

// The angle of the point (x = b, y = a) in [-pi, pi], with C's rules for zeros and infinities. Its
// gradients are b / (a^2 + b^2) for a and -a / (a^2 + b^2) for b; both are NaN at the origin.
struct Arctan2 : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return VectorArctan2(a, b);
  }
};
// Functions of (g, a, b): g times the derivative of Arctan2 by a (Lhs) or by b (Rhs).
struct Arctan2GradLhs : NumpyFunction<3, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {
    return g * b / (a * a + b * b);
  }
};
struct Arctan2GradRhs : NumpyFunction<3, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {
    return -g * a / (a * a + b * b);
  }
};
// The magnitude of a with the sign of b, which may be that of -0. The gradient of b is 0, and that
// of a is g or -g: -g where the sign of a changes. An a of 0 counts as positive there.
struct CopySign : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return std::copysign(a, b);
  }
};
// g times the derivative of CopySign by a: the product of the two signs.
struct CopySignGradLhs : NumpyFunction<3, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {
    return (a < 0) == std::signbit(b) ? g : -g;
  }
};
// a 2^b, where b need not be an integer, as in MXNet. The gradients are 2^b for a and a 2^b ln 2
// for b. Powers are computed without a call (VectorPow), so that loops vectorise.
struct Ldexp : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return a * VectorPow(C{2}, b);
  }
};
// g times the derivative of Ldexp by a (Lhs) or by b (Rhs).
struct LdexpGradLhs : NumpyFunction<3, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C, C b) {
    return g * VectorPow(C{2}, b);
  }
};
struct LdexpGradRhs : NumpyFunction<3, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {
    return g * a * VectorPow(C{2}, b) * C(std::numbers::ln2);
  }
};
// F of the operands in the opposite order, for the reversed operators (_npi_r*_scalar), where the
// number is the left operand. SwappedGrad is the gradient of the array there, from a gradient of
// F's right operand.
template <typename F>
struct Swapped : NumpyFunction<2, F::kExactIntegers> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return F::Apply(b, a);
  }
};
template <typename F>
struct SwappedGrad : NumpyFunction<3, F::kExactIntegers> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {
    return F::Apply(g, b, a);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_NUMPY_FUNCTIONS_H_
