#ifndef COOPER_MODULE_GRADIENT_NORM_H_
#define COOPER_MODULE_GRADIENT_NORM_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/ndarray.h"

namespace cooper {

// The square root of the sum of the squares of all elements, in double; equal for every number of
// threads. Arrays of any floating dtype; those of a device are copied to the CPU first.
absl::StatusOr<double> GlobalNorm(absl::Span<const NDArray> arrays);

}  // namespace cooper

#endif  // COOPER_MODULE_GRADIENT_NORM_H_
