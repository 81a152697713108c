#ifndef COOPER_MODULE_PARAMETERS_FINITE_H_
#define COOPER_MODULE_PARAMETERS_FINITE_H_

// Checks arrays for NaN and infinity, to detect a training run that has diverged.

#include <cstdint>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns whether no element is NaN or infinite; true for integers and for a null array. Makes one
// pass over the array with all threads, at memory speed, and allocates nothing for arrays on the
// CPU. A GPU array is checked on the GPU if the kernel of all_finite is linked, else copied to the
// CPU first.
absl::StatusOr<bool> IsFinite(const NDArray& array);

// The number of elements that are NaN or infinite, and the position of the first in row-major
// order.
struct NonFiniteElements {
  int64_t count = 0;
  int64_t first = -1;
};
// Counts such elements in a copy of the array as doubles; none for integers and a null array.
absl::StatusOr<NonFiniteElements> CountNonFinite(const NDArray& array);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_FINITE_H_
