#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_NUMPY_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_NUMPY_FUNCTIONS_H_

// Functions of elements that only NumPy operators have, and gradients as functions of (ograd, a,
// b), for element loops of every device (elemwise_loop.h). C is float, double or, with
// kExactIntegers, int64_t.

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/vector_log.h"
#include "ndarray/base/host_device.h"

namespace cooper {

template <int arity, bool exact_integers>
struct NumpyFunction {
  static constexpr int kArity = arity;
  static constexpr bool kExactIntegers = exact_integers;
};

// Tests of one element, which give 1 or 0. Integers are finite.
template <typename C>
COOPER_HOST_DEVICE bool IsInfinity(C x, int sign) {
  if constexpr (std::is_integral_v<C>) return false;
  return x == static_cast<C>(sign) * std::numeric_limits<C>::infinity();
}
struct TestNan : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsNan(x);
  }
};
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
struct TestFinite : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return !IsNan(x) && !IsInfinity(x, 1) && !IsInfinity(x, -1);
  }
};

// Functions of the bits of integers. There is no loop over floats: type rules refuse them.
struct BitNot : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return static_cast<C>(~static_cast<int64_t>(x));
  }
};
struct BitAnd : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return static_cast<C>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
  }
};
struct BitOr : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return static_cast<C>(static_cast<int64_t>(a) | static_cast<int64_t>(b));
  }
};
struct BitXor : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return static_cast<C>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b));
  }
};
// The least common multiple, 0 if one is 0. Wraps around.
struct LeastCommonMultiple : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    const auto magnitude = [](C x) {
      const auto whole = static_cast<int64_t>(x);
      return whole < 0 ? uint64_t{0} - static_cast<uint64_t>(whole) : static_cast<uint64_t>(whole);
    };
    const uint64_t x = magnitude(a), y = magnitude(b);
    if (x == 0 || y == 0) return 0;
    uint64_t divisor = x;
    for (uint64_t rest = y; rest != 0;) {
      const uint64_t next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    return static_cast<C>(static_cast<int64_t>(x / divisor * y));
  }
};

// The angle of the point (b, a).
struct Arctan2 : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return std::atan2(a, b);
  }
};
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
// |a| with the sign of b, which may be that of -0. The gradient of b is 0.
struct CopySign : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return std::copysign(a, b);
  }
};
struct CopySignGradLhs : NumpyFunction<3, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C a, C b) {
    return (a < 0) == std::signbit(b) ? g : -g;
  }
};
// a 2^b.
struct Ldexp : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C a, C b) {
    return a * VectorPow(C{2}, b);
  }
};
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
// F of the operands in the opposite order, and a gradient of F for such operands.
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
