// Products of floats by oneDNN's sgemm, which picks its kernels for the processor at run time.

#include "glog/logging.h"
#include "ndarray/gemm.h"
#include "oneapi/dnnl/dnnl.h"

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
  const dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k,
                                          alpha, a, lda, b, ldb, beta, c, ldc);
  CHECK_EQ(status, dnnl_success) << "dnnl_sgemm refuses m=" << m << " n=" << n << " k=" << k
                                 << " lda=" << lda << " ldb=" << ldb << " ldc=" << ldc;
}

const bool registered = [] {
  RegisterSgemm("oneDNN", OneDnnGemm);
  return true;
}();

}  // namespace
}  // namespace cooper
