#ifndef COOPER_NDARRAY_CUDA_CUDA_STATUS_H_
#define COOPER_NDARRAY_CUDA_CUDA_STATUS_H_

// Converts CUDA's error codes to absl::Status.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cuda_runtime.h"

namespace cooper {

// Returns OK for cudaSuccess, kResourceExhausted if memory is short, else kInternal. The message
// has `call`, CUDA's name and description of the error and, if an earlier kernel caused it, how to
// find that kernel. Clears the error of cudaGetLastError, so that the next launch does not report
// it again.
absl::Status CudaStatus(cudaError_t error, absl::string_view call);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUDA_STATUS_H_
