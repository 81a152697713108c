#include "ndarray/gemm.h"

#include "Eigen/Core"
#include "ndarray/profiler.h"

namespace cooper {
namespace {

template <typename T>
void EigenGemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,
               const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  using ConstMap = Eigen::Map<const Matrix, Eigen::Unaligned, Stride>;
  Eigen::Map<Matrix, Eigen::Unaligned, Stride> out(c, m, n, Stride(ldc));
  if (beta == T(0)) {
    out.setZero();
  } else if (beta != T(1)) {
    out *= beta;
  }
  if (m == 0 || n == 0 || k == 0) return;
  const ConstMap ma(a, transpose_a ? k : m, transpose_a ? m : k, Stride(lda));
  const ConstMap mb(b, transpose_b ? n : k, transpose_b ? k : n, Stride(ldb));
  if (transpose_a && transpose_b) {
    out.noalias() += alpha * (ma.transpose() * mb.transpose());
  } else if (transpose_a) {
    out.noalias() += alpha * (ma.transpose() * mb);
  } else if (transpose_b) {
    out.noalias() += alpha * (ma * mb.transpose());
  } else {
    out.noalias() += alpha * (ma * mb);
  }
}

struct Sgemm {
  const char* library = "Eigen";
  SgemmFn run = &EigenGemm<float>;
};

Sgemm& TheSgemm() {
  static Sgemm sgemm;
  return sgemm;
}

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
  EigenGemm<double>(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

const char* GemmLibrary() { return TheSgemm().library; }

void RegisterSgemm(const char* library, SgemmFn sgemm) { TheSgemm() = {library, sgemm}; }

}  // namespace cooper
