// Registers float products of oneDNN, which selects its kernels for the processor at run time.

#include <cstdint>

#include "ndarray/products/gemm.h"
#include "ndarray/products/gemm_bfloat16.h"
#include "ndarray/products/gemm_float32.h"
#include "ndarray/products/gemm_product.h"

namespace cooper {
namespace {

void OneDnnGemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
                const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                int64_t ldc) {
  if (k == 0) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
    }
    return;
  }
  const GemmProduct<float> p{transpose_a, transpose_b, m,   n,    k, alpha, a,
                             lda,         b,           ldb, beta, c, ldc};
  if (GetGemmPrecision() == GemmPrecision::kBfloat16 && Bfloat16Gemm(p)) {
    return;
  }
  Float32Gemm(p);
}

const bool kRegistered = [] {
  RegisterSgemm("oneDNN", OneDnnGemm, CheckBfloat16Gemm);
  return true;
}();

}  // namespace
}  // namespace cooper
