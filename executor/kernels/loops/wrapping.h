#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_WRAPPING_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_WRAPPING_H_

// Sums and products of elements whose integers wrap around, as they do in the narrower types of
// arrays, for element loops of every device: in C++ those of signed integers may not overflow.

#include <type_traits>

#include "ndarray/base/host_device.h"

namespace cooper {

template <typename C>
using Wrapping = typename std::conditional_t<std::is_integral_v<C> && !std::is_same_v<C, bool>,
                                             std::make_unsigned<C>, std::type_identity<C>>::type;

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
// Of a float, -0 for 0.
template <typename C>
COOPER_HOST_DEVICE C WrapNegate(C a) {
  return static_cast<C>(-static_cast<Wrapping<C>>(a));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_WRAPPING_H_
