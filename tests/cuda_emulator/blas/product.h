#ifndef COOPER_TESTS_CUDA_EMULATOR_BLAS_PRODUCT_H_
#define COOPER_TESTS_CUDA_EMULATOR_BLAS_PRODUCT_H_

// Multiplies matrices on the CPU as cuBLAS defines it, with column-major matrices.

#include <cstdint>

#include "cublas_api.h"

namespace cooper::cuda_emulator {

// Computes C = alpha op(A) op(B) + beta C for `count` matrices; C is (m, n), op(A) (m, k), op(B)
// (k, n). All three have elements of `type`. The sums, alpha and beta are float64 if `type` is,
// else float32.
struct Product {
  cudaDataType type = CUDA_R_32F;
  bool tf32 = false;  // whether float32 factors are rounded to TF32
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  double alpha = 1;
  double beta = 0;  // if 0, C is not read
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int64_t lda = 1;
  int64_t ldb = 1;
  int64_t ldc = 1;
  int64_t stride_a = 0;  // elements from one matrix to the next
  int64_t stride_b = 0;
  int64_t stride_c = 0;
  int64_t count = 1;
};

// Returns CUBLAS_STATUS_INVALID_VALUE after a message on stderr if an extent is negative, a leading
// dimension is less than the rows of its matrix, or a matrix is not completely in memory of a
// device; CUBLAS_STATUS_NOT_SUPPORTED if elements are not float16, bfloat16, float32 or float64.
cublasStatus_t CheckProduct(const char* call, const Product& product);

// Computes the product. Requires that CheckProduct succeeded, and that device memory is open to the
// host.
void Multiply(const Product& product);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_BLAS_PRODUCT_H_
