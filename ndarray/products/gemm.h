#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_H_

// Matrix products, by oneDNN where //ndarray:gemm_onednn is linked, else by Eigen.

#include <cstdint>

#include "absl/status/status.h"

namespace cooper {

// C = alpha * op(A) * op(B) + beta * C, row-major; op transposes where asked. op(A) is (m, k),
// op(B) is (k, n), C is (m, n). lda, ldb, ldc are elements from one row of the stored matrix to the
// next. With beta 0, C is not read. Empty products are allowed: k = 0 only scales C.
void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
          const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
          int64_t ldc);
void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha,
          const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
          int64_t ldc);

// "oneDNN" or "Eigen": what computes products of floats in this program.
const char* GemmLibrary();

// How products of floats are computed.
enum class GemmPrecision {
  kFloat32,
  // The factors of large products are rounded to bfloat16, which keeps 8 bits of their 24; sums
  // are float's. Small products, which would not gain by it, stay as they are.
  kBfloat16,
};

// What holds for the products of floats that start later on any thread; kFloat32 unless it is
// changed here. kBfloat16 is for processors with AMX or AVX-512 BF16, where it takes a fraction of
// the time. Errors, which change nothing: kFailedPrecondition where products are Eigen's,
// kUnimplemented where the processor has no such instructions or oneDNN may not use them
// (ONEDNN_MAX_CPU_ISA).
absl::Status SetGemmPrecision(GemmPrecision precision);
GemmPrecision GetGemmPrecision();

// Replaces the product of floats; called once, from a static initializer. `check_bfloat16` tells
// whether kBfloat16 can be had.
using SgemmFn = void (*)(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                         float beta, float* c, int64_t ldc);
void RegisterSgemm(const char* library, SgemmFn sgemm, absl::Status (*check_bfloat16)());

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_H_
