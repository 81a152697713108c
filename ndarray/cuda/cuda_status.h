#ifndef COOPER_NDARRAY_CUDA_CUDA_STATUS_H_
#define COOPER_NDARRAY_CUDA_CUDA_STATUS_H_

// CUDA's error codes as absl::Status.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cuda_runtime.h"

namespace cooper {

// OK for cudaSuccess, kResourceExhausted for a lack of memory, else kInternal. The message has
// `call`, CUDA's name and description of the error and, of one that a kernel met earlier, how to
// learn in which. The error is also taken from
// cudaGetLastError, so that it is not reported again by the next launch.
absl::Status CudaStatus(cudaError_t error, absl::string_view call);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUDA_STATUS_H_
