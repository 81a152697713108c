#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_CLIP_BOUNDS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_CLIP_BOUNDS_H_

// The bounds of `clip` for integer dtypes, for its kernels of both devices. parametric_functions.h
// has the functions that compare elements with them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ndarray/base/dtype.h"

namespace cooper {

// The bounds that elements are compared with. An empty range if low > high, which no element is in.
struct ClipBounds {
  double low, high;
};

// Returns the bounds that integers of `dtype` are compared with, limited to the range of the dtype.
// MXNet compares integers with the float bounds and converts a bound that is the result. For
// results these are the bounds truncated to integers, for gradients (`strict`) the outermost
// integers between the bounds. Floating dtypes keep the bounds.
//
// Examples for int32:
//
//   bounds -1.5 and 2.5: results in [-1, 2], gradients reach the elements of [-1, 2]
//   bounds  0.5 and 2.5: results in [0, 2], gradients reach the elements of [1, 2]
inline ClipBounds ClipBoundsOf(double low, double high, DType dtype, bool strict) {
  if (IsFloating(dtype)) return {low, high};
  return DispatchDType(dtype, [&](auto tag) -> ClipBounds {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const auto least = static_cast<double>(std::numeric_limits<T>::lowest());
      const auto most = static_cast<double>(std::numeric_limits<T>::max());
      if (strict && (low > most || high < least)) return {1, 0};  // no integer is in the range
      return {std::clamp(strict ? std::ceil(low) : std::trunc(low), least, most),
              std::clamp(strict ? std::floor(high) : std::trunc(high), least, most)};
    } else {
      return {low, high};
    }
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_CLIP_BOUNDS_H_
