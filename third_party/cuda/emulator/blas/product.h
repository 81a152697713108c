#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_PRODUCT_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_PRODUCT_H_

// Matrix products on the CPU, as cuBLAS defines them: matrices lie in columns.

#include <cstdint>

#include "cublas_api.h"

namespace cooper::cuda_emulator {

// C = alpha op(A) op(B) + beta C, `count` times; C is (m, n), op(A) (m, k), op(B) (k, n). Elements
// of all three are of `type`; the sums, alpha and beta are of float64 if that is, else of float32.
struct Product {
  cudaDataType type = CUDA_R_32F;
  bool tf32 = false;  // whether factors of float32 are rounded to TF32
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

// CUBLAS_STATUS_INVALID_VALUE after a message on stderr if an extent is negative, a leading
// dimension is less than the column that it leads, or a matrix is not all in memory of a device;
// CUBLAS_STATUS_NOT_SUPPORTED if elements are not of float16, bfloat16, float32 or float64.
cublasStatus_t CheckProduct(const char* call, const Product& product);

// Requires that CheckProduct() was content, and that device memory can be touched.
void Multiply(const Product& product);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_PRODUCT_H_
