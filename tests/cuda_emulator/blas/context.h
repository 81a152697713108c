#ifndef COOPER_TESTS_CUDA_EMULATOR_BLAS_CONTEXT_H_
#define COOPER_TESTS_CUDA_EMULATOR_BLAS_CONTEXT_H_

#include <cstddef>

#include "cublas_api.h"

// The object that a cublasHandle_t points to.
struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  size_t workspace_bytes = 0;  // workspace set by the caller; 0: none
};

#endif  // COOPER_TESTS_CUDA_EMULATOR_BLAS_CONTEXT_H_
