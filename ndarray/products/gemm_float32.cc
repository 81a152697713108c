#include "ndarray/products/gemm_float32.h"

#include <algorithm>
#include <cstdint>

#include "glog/logging.h"
#include "ndarray/products/onednn_thread.h"
#include "ndarray/threads/parallel.h"
#include "oneapi/dnnl/dnnl.h"

namespace cooper {
namespace {

// With fewer multiplications a second thread costs more than it saves.
constexpr double kMinWorkPerThread = 1 << 18;
// The least work of a piece that another thread may take over: each piece reorders the other
// operand anew.
constexpr double kMinWorkPerPiece = 1 << 22;
// Blocks of rows or columns end at multiples of these, which are whole vectors. The kernels' tiles
// have more columns (24 with AVX2, 48 with AVX-512), but waiting for a thread with a larger block
// costs more than a partial tile.
constexpr int64_t kRowTile = 8;
constexpr int64_t kColumnTile = 16;
// oneDNN copies a transposed B into panels of up to a thousand columns or, where there are more
// columns, of all of them. With few rows a panel is used while it is in cache only if no more than
// a thousand columns are copied at a time: 20 rows and 10,000 columns take half as long (AVX-512;
// any depth from 64 to 650). With many rows it does not matter.
constexpr int64_t kMaxPanelColumns = 1000;
constexpr int64_t kMaxPanelRows = 192;

void OneDnnSgemm(const GemmProduct<float>& p) {
  const OneDnnOnThisThread this_thread;
  const dnnl_status_t status =
      dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, p.alpha, p.a,
                 p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  CHECK_EQ(status, dnnl_success) << "dnnl_sgemm refuses m=" << p.m << " n=" << p.n << " k=" << p.k
                                 << " lda=" << p.lda << " ldb=" << p.ldb << " ldc=" << p.ldc;
}

}  // namespace

void Float32Block(const GemmProduct<float>& p) {
  if (!p.transpose_b || p.m == 1 || p.m > kMaxPanelRows || p.n <= kMaxPanelColumns) {
    OneDnnSgemm(p);
    return;
  }
  const int64_t panels = (p.n + kMaxPanelColumns - 1) / kMaxPanelColumns;
  const int64_t columns = (p.n / panels + kColumnTile) / kColumnTile * kColumnTile;
  for (int64_t begin = 0; begin < p.n; begin += columns) {
    OneDnnSgemm(p.Block(0, p.m, begin, std::min(columns, p.n - begin)));
  }
}

// oneDNN's own threads would allocate for every product and wake for small ones. Here the result is
// cut along its longer side into one block per thread, or a few if there is much work, and each
// thread computes its blocks alone.
void Float32Gemm(const GemmProduct<float>& p) {
  const int64_t longer = std::max(p.m, p.n);
  const int64_t tile = p.m >= p.n ? kRowTile : kColumnTile;
  const int64_t tiles = (longer + tile - 1) / tile;
  const double work =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const auto useful = static_cast<int64_t>(work / kMinWorkPerThread);
  const int64_t grain = useful < 2 ? tiles : std::max<int64_t>(1, tiles / useful);
  const auto piece = static_cast<int64_t>(static_cast<double>(tiles) * kMinWorkPerPiece / work);
  ParallelForRanges(tiles, grain, piece, [&](int64_t begin, int64_t end) {
    begin *= tile;
    end = std::min(end * tile, longer);
    Float32Block(p.m >= p.n ? p.Block(begin, end - begin, 0, p.n)
                            : p.Block(0, p.m, begin, end - begin));
  });
}

}  // namespace cooper
