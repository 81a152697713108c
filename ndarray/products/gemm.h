#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_H_

// Computes matrix products with oneDNN where //ndarray:gemm_onednn is linked, else with Eigen.

#include <cstdint>

#include "absl/status/status.h"

namespace cooper {

// Computes C = alpha * op(A) * op(B) + beta * C, row-major; op is the identity or the transpose.
// op(A) is (m, k), op(B) is (k, n), C is (m, n). lda, ldb and ldc are the elements from one row of
// the stored matrix to the next. With beta 0, C is not read. Empty products are allowed: k = 0 only
// scales C. Arguments are not checked. Runs on up to NumThreads() threads, or on the calling one
// where Eigen computes the product. Thread-safe if the outputs do not overlap. Costs 2 * m * n * k
// FLOPs, which the profiler counts (profiler.h).
void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
          const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
          int64_t ldc);
void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha,
          const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
          int64_t ldc);

// Returns whether products of floats use several threads: oneDNN's do, Eigen's do not. Products of
// doubles never do.
bool FloatGemmUsesThreads();

// Returns the library that computes float products in this program: "oneDNN" or "Eigen". Products
// of doubles are always Eigen's.
const char* GemmLibrary();

// The precision in which products of floats are computed.
enum class GemmPrecision {
  kFloat32,
  // The factors of large products are rounded to bfloat16, which keeps 8 of their 24 significant
  // bits; sums are float. Small products stay in float32, because they would not become faster.
  kBfloat16,
};

// Sets the precision of float products that start later on any thread; the default is kFloat32.
// kBfloat16 is for processors with AMX or AVX-512 BF16, where it takes a fraction of the time.
// Errors, which change nothing: kFailedPrecondition where Eigen computes the products;
// kUnimplemented where the processor lacks the instructions or oneDNN may not use them
// (ONEDNN_MAX_CPU_ISA).
absl::Status SetGemmPrecision(GemmPrecision precision);
GemmPrecision GetGemmPrecision();

// Replaces the float product; called once, from a static initializer. `check_bfloat16` returns OK
// if kBfloat16 is available.
using SgemmFn = void (*)(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                         float beta, float* c, int64_t ldc);
void RegisterSgemm(const char* library, SgemmFn sgemm, absl::Status (*check_bfloat16)());

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_H_
