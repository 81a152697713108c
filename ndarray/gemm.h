#ifndef COOPER_NDARRAY_GEMM_H_
#define COOPER_NDARRAY_GEMM_H_

// Matrix products, by oneDNN where //ndarray:gemm_onednn is linked, else by Eigen.

#include <cstdint>

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

// Replaces the product of floats; called once, from a static initializer.
using SgemmFn = void (*)(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                         float beta, float* c, int64_t ldc);
void RegisterSgemm(const char* library, SgemmFn sgemm);

}  // namespace cooper

#endif  // COOPER_NDARRAY_GEMM_H_
