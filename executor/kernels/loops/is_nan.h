#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_IS_NAN_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_IS_NAN_H_

#include <cmath>
#include <type_traits>

#include "ndarray/base/host_device.h"

namespace cooper {

// Whether `x` is NaN, which no integer is: for loops over any type that one computes in. Compilers
// make the comparison x != x of it.
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
