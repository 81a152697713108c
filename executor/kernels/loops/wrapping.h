#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_WRAPPING_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_WRAPPING_H_

// Sums, differences and products of elements that wrap around for integers, as they do in the
// dtypes of arrays, for element loops of every device. In C++ the overflow of signed integers is
// undefined, and compilers use that. Loops compute narrow integers as int64_t; the conversion to
// the dtype then wraps to its width, as the arithmetic of the dtype would.

#include <type_traits>

#include "ndarray/base/host_device.h"

namespace cooper {

// The type in which the arithmetic of C wraps around: the unsigned type of an integer, otherwise C.
template <typename C>
using Wrapping = typename std::conditional_t<std::is_integral_v<C> && !std::is_same_v<C, bool>,
                                             std::make_unsigned<C>, std::type_identity<C>>::type;

// Return a + b, a - b and a * b; integers wrap around: WrapAdd of the greatest int64_t and 1 is the
// least one. Floats have the rounding of the operator. Host and device.
template <typename C>
COOPER_HOST_DEVICE C WrapAdd(C a, C b) {
  using W = Wrapping<C>;
  return static_cast<C>(static_cast<W>(a) + static_cast<W>(b));
}
template <typename C>
COOPER_HOST_DEVICE C WrapSub(C a, C b) {
  using W = Wrapping<C>;
  return static_cast<C>(static_cast<W>(a) - static_cast<W>(b));
}
template <typename C>
COOPER_HOST_DEVICE C WrapMul(C a, C b) {
  using W = Wrapping<C>;
  return static_cast<C>(static_cast<W>(a) * static_cast<W>(b));
}
// Returns -a; for a float 0 gives -0, and the least integer gives itself.
template <typename C>
COOPER_HOST_DEVICE C WrapNegate(C a) {
  return static_cast<C>(-static_cast<Wrapping<C>>(a));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_WRAPPING_H_
