#ifndef COOPER_NDARRAY_ARRAY_ON_CPU_H_
#define COOPER_NDARRAY_ARRAY_ON_CPU_H_

// Gives code that reads elements through pointers access to arrays of any device.

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns the array itself if its elements are in CPU memory, else a copy there, which waits for
// the work that its device has queued on the array. For reading only: whether the elements are
// shared depends on the context. Errors are those of NDArray::CopyTo.
absl::StatusOr<NDArray> OnCpu(const NDArray& array);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_ON_CPU_H_
