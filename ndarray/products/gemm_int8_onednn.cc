// Registers products of 8-bit integers by oneDNN's gemm, which sums in int32. Its primitives would
// not do: from int8 data they compute sums in float, which rounds those above 2^24.

#include <algorithm>
#include <cstdint>

#include "glog/logging.h"
#include "ndarray/products/gemm_int8.h"
#include "ndarray/products/onednn_thread.h"
#include "ndarray/threads/parallel.h"
#include "oneapi/dnnl/dnnl.h"

namespace cooper {
namespace {

// With fewer multiplications a second thread costs more than it saves.
constexpr double kMinWorkPerThread = 1 << 21;
// The least work of a piece that another thread may take over: each piece reorders the other
// factor anew.
constexpr double kMinWorkPerPiece = 1 << 25;
constexpr int64_t kTile = 16;  // a vector of the result

// Computes the product on the calling thread.
void RunBlock(const Int8Product& p) {
  const OneDnnOnThisThread this_thread;
  const int32_t none = 0;
  const char kind = p.row_terms != nullptr ? 'C' : p.column_terms != nullptr ? 'R' : 'F';
  const int32_t* terms = p.row_terms != nullptr      ? p.row_terms
                         : p.column_terms != nullptr ? p.column_terms
                                                     : &none;
  const char b = p.transpose_b ? 'T' : 'N';
  const float beta = p.add ? 1 : 0;
  const dnnl_status_t status =
      p.a_unsigned
          ? dnnl_gemm_u8s8s32('N', b, kind, p.m, p.n, p.k, 1, static_cast<const uint8_t*>(p.a),
                              p.lda, 0, p.b, p.ldb, 0, beta, p.c, p.ldc, terms)
          : dnnl_gemm_s8s8s32('N', b, kind, p.m, p.n, p.k, 1, static_cast<const int8_t*>(p.a),
                              p.lda, 0, p.b, p.ldb, 0, beta, p.c, p.ldc, terms);
  CHECK_EQ(status, dnnl_success) << "oneDNN refuses a product of m=" << p.m << " n=" << p.n
                                 << " k=" << p.k << " lda=" << p.lda << " ldb=" << p.ldb
                                 << " ldc=" << p.ldc;
}

// Cuts the result along its longer side into blocks, which threads compute.
void OneDnnInt8Gemm(const Int8Product& p) {
  const bool by_rows = p.m >= p.n;
  const int64_t side = by_rows ? p.m : p.n;
  const int64_t tiles = (side + kTile - 1) / kTile;
  const double work_per_tile = static_cast<double>(p.m) * static_cast<double>(p.n) *
                               static_cast<double>(p.k) / static_cast<double>(tiles);
  ParallelForRanges(tiles, 1 + static_cast<int64_t>(kMinWorkPerThread / work_per_tile),
                    1 + static_cast<int64_t>(kMinWorkPerPiece / work_per_tile),
                    [&](int64_t begin, int64_t end) {
                      begin *= kTile;
                      end = std::min(end * kTile, side);
                      RunBlock(by_rows ? p.Block(begin, end - begin, 0, p.n)
                                       : p.Block(0, p.m, begin, end - begin));
                    });
}

bool HasVnni() {
  constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_vnni);
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & kNeeded) == kNeeded;
}

const bool kRegistered = [] {
  RegisterInt8Gemm([]() -> Int8GemmFn {
    static const bool has_vnni = HasVnni();
    return has_vnni ? OneDnnInt8Gemm : nullptr;
  });
  return true;
}();

}  // namespace
}  // namespace cooper
