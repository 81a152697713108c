#ifndef COOPER_EXECUTOR_KERNELS_POOLING_LOWEST_ELEMENT_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_LOWEST_ELEMENT_H_

#include <limits>
#include <type_traits>

#include "ndarray/base/dtype.h"

namespace cooper {

// The lowest finite value of element type T, in its compute type: the maximum of no elements.
// Pooling's kernels start a maximum with it, so a window without elements gives a finite number of
// T, as in MXNet. A window of -infinity alone gives it too.
template <typename T>
inline constexpr ComputeType<T> kLowestElement =
    std::is_same_v<T, Float16>    ? ComputeType<T>(-65504.0F)
    : std::is_same_v<T, BFloat16> ? ComputeType<T>(-0x1.FEp127F)
                                  : std::numeric_limits<ComputeType<T>>::lowest();

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_LOWEST_ELEMENT_H_
