#ifndef COOPER_NDARRAY_ARRAY_ON_CPU_H_
#define COOPER_NDARRAY_ARRAY_ON_CPU_H_

// Arrays of any device for code that reads elements through pointers.

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// The array itself if its elements are in the CPU's memory, else a copy there, which has waited for
// what its device does to the array. Only to read: whether the elements are shared depends on where
// they are. Errors are CopyTo's.
absl::StatusOr<NDArray> OnCpu(const NDArray& array);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_ON_CPU_H_
