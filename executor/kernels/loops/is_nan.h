#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_IS_NAN_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_IS_NAN_H_

// NaN tests in templates over the compute types, for reductions, argmax and recurrent cells.

#include <cmath>
#include <type_traits>

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns whether `x` is NaN, which is false for integers. For loops over any compute type;
// compilers turn it into the comparison x != x. Host and device. 16-bit floats are no compute
// types: convert them first.
template <typename C>
COOPER_HOST_DEVICE bool IsNan(C x) {
  if constexpr (std::is_floating_point_v<C>) {
    return std::isnan(x);
  } else {
    return false;
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_IS_NAN_H_
