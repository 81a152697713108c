#ifndef COOPER_MODULE_PARAMETERS_FINITE_H_
#define COOPER_MODULE_PARAMETERS_FINITE_H_

// Whether numbers are numbers: what a training run that has gone wrong is noticed by.

#include <cstdint>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Whether no element is NaN or infinite; true for integers, and for a null array. One pass over
// the array in all threads, at the speed of the memory; a GPU looks at its own arrays, where the
// program has the kernel of all_finite, else they are copied to the CPU first. Allocates nothing
// for arrays on the CPU.
absl::StatusOr<bool> IsFinite(const NDArray& array);

// How many elements are NaN or infinite, and the position of the first in row-major order.
struct NonFiniteElements {
  int64_t count = 0;
  int64_t first = -1;
};
absl::StatusOr<NonFiniteElements> CountNonFinite(const NDArray& array);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_FINITE_H_
