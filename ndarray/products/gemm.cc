#include "ndarray/products/gemm.h"

#include <atomic>

#include "ndarray/products/eigen_product.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

GemmFn<double> DoubleProduct() {
#ifdef COOPER_CPU_LEVELS
  if (GetCpuLevel() >= CpuLevel::kAvx2) return eigen_avx2::DoubleProduct();
#endif
  return eigen_baseline::DoubleProduct();
}

GemmFn<float> FloatProduct() {
#ifdef COOPER_CPU_LEVELS
  if (GetCpuLevel() >= CpuLevel::kAvx2) return eigen_avx2::FloatProduct();
#endif
  return eigen_baseline::FloatProduct();
}

void EigenGemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
               const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
               int64_t ldc) {
  FloatProduct()(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

absl::Status EigenHasNoBfloat16() {
  return absl::FailedPreconditionError(
      "bfloat16 products are oneDNN's, and this program has Eigen's: link "
      "//ndarray:gemm_onednn");
}

struct Sgemm {
  const char* library = "Eigen";
  SgemmFn run = &EigenGemm;
  absl::Status (*check_bfloat16)() = &EigenHasNoBfloat16;
};

Sgemm& TheSgemm() {
  static Sgemm sgemm;
  return sgemm;
}

std::atomic<GemmPrecision> gemm_precision{GemmPrecision::kFloat32};

}  // namespace

void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
          const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
          int64_t ldc) {
  if (m == 0 || n == 0) return;
  AddProfileFlops(2 * m * n * k);
  TheSgemm().run(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha,
          const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
          int64_t ldc) {
  if (m == 0 || n == 0) return;
  AddProfileFlops(2 * m * n * k);
  DoubleProduct()(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

bool FloatGemmUsesThreads() { return TheSgemm().run != &EigenGemm; }

const char* GemmLibrary() { return TheSgemm().library; }

void RegisterSgemm(const char* library, SgemmFn sgemm, absl::Status (*check_bfloat16)()) {
  TheSgemm() = {library, sgemm, check_bfloat16};
}

absl::Status SetGemmPrecision(GemmPrecision precision) {
  if (precision == GemmPrecision::kBfloat16) {
    if (absl::Status status = TheSgemm().check_bfloat16(); !status.ok()) return status;
  }
  gemm_precision.store(precision, std::memory_order_relaxed);
  return absl::OkStatus();
}

GemmPrecision GetGemmPrecision() { return gemm_precision.load(std::memory_order_relaxed); }

}  // namespace cooper
