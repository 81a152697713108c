// Products of floats by oneDNN's sgemm, which picks its kernels for the processor at run time.

#include <algorithm>

#include "glog/logging.h"
#include "ndarray/gemm.h"
#include "ndarray/parallel.h"
#include "oneapi/dnnl/dnnl.h"

namespace cooper {
namespace {

// Below this many multiplications a second thread costs more than it saves.
constexpr double kMinWorkPerThread = 1 << 18;
// A piece that another thread may take over: each brings the other operand into order anew.
constexpr double kMinWorkPerPiece = 1 << 22;
// Blocks of rows or columns end at multiples of these, which are whole vectors. The kernels' tiles
// have more columns (24 with AVX2, 48 with AVX-512), but a thread that waits for another's larger
// block loses more than a part of a tile does.
constexpr int64_t kRowTile = 8;
constexpr int64_t kColumnTile = 16;

struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  float alpha;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float beta;
  float* c;
  int64_t ldc;
};

// oneDNN would use all threads for a block that is computed outside of ParallelFor's.
class OneThread {
 public:
  OneThread() : before_(NumThreads()) { SetNumThreads(1); }
  ~OneThread() { SetNumThreads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

void RunBlock(const Product& p, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const float* a = p.a + (p.transpose_a ? row : row * p.lda);
  const float* b = p.b + (p.transpose_b ? column * p.ldb : column);
  float* c = p.c + row * p.ldc + column;
  const OneThread one_thread;
  const dnnl_status_t status =
      dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', rows, columns, p.k, p.alpha,
                 a, p.lda, b, p.ldb, p.beta, c, p.ldc);
  CHECK_EQ(status, dnnl_success) << "dnnl_sgemm refuses m=" << rows << " n=" << columns
                                 << " k=" << p.k << " lda=" << p.lda << " ldb=" << p.ldb
                                 << " ldc=" << p.ldc;
}

// oneDNN's own threads allocate for every product, and wake for small ones. Here the result is cut
// along its longer side into one block per thread, or a few if there is much to do, and each thread
// computes its blocks alone.
void OneDnnGemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
                const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                int64_t ldc) {
  if (k == 0) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
    }
    return;
  }
  const Product p{transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  const int64_t longer = std::max(m, n);
  const int64_t tile = m >= n ? kRowTile : kColumnTile;
  const int64_t tiles = (longer + tile - 1) / tile;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto useful = static_cast<int64_t>(work / kMinWorkPerThread);
  const int64_t grain = useful < 2 ? tiles : std::max<int64_t>(1, tiles / useful);
  const auto piece = static_cast<int64_t>(static_cast<double>(tiles) * kMinWorkPerPiece / work);
  ParallelForPieces(tiles, grain, piece, [&](int64_t begin, int64_t end) {
    begin *= tile;
    end = std::min(end * tile, longer);
    if (m >= n) {
      RunBlock(p, begin, end - begin, 0, n);
    } else {
      RunBlock(p, 0, m, begin, end - begin);
    }
  });
}

const bool registered = [] {
  RegisterSgemm("oneDNN", OneDnnGemm);
  return true;
}();

}  // namespace
}  // namespace cooper
