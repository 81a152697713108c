#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_TRANSPOSE_TILE_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_TRANSPOSE_TILE_H_

// Transposes a square that fits in registers. Each row is read and written as a whole: rows whose
// distance is a power of two share a few cache sets, and would evict each other if they were read
// element by element. Needs 32 vector registers of 16 lanes to be fast: strided_copy.cc calls it
// for elements of 4 bytes at CpuLevel::kAvx512. Correct at every level.
//
// The method exchanges off-diagonal blocks of 1, 2, 4 and 8 elements: the recursion that transposes
// a 2 x 2 matrix of blocks, from the smallest blocks upward.

#include <cstdint>
#include <cstring>

namespace cooper {

// The side of the square, in elements: the lanes of a 512-bit register of 32-bit elements.
inline constexpr int kTransposeTile = 16;

// Exchanges the elements of two rows, kDistance apart, that a transposition exchanges: element 1 of
// row 0 with element 0 of row 1, and so on. kDistance is 1, 2, 4 or 8. Row is a vector of 16
// elements; the index lists of the shuffles number the elements of x from 0 and those of y from 16.
template <int kDistance, typename Row>
void SwapHalves(Row& a, Row& b) {
  const Row x = a, y = b;
  if constexpr (kDistance == 1) {
    a = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
    b = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
  } else if constexpr (kDistance == 2) {
    a = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    b = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  } else if constexpr (kDistance == 4) {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
    b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  } else {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    b = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
}

// Does one of log2(kTransposeTile) steps of a transposition: exchanges blocks of kDistance elements
// in all pairs of rows that are kDistance apart. `rows` has kTransposeTile rows.
template <int kDistance, typename Row>
void SwapRows(Row* rows) {
  for (int i = 0; i < kTransposeTile; ++i) {
    if ((i & kDistance) == 0) SwapHalves<kDistance>(rows[i], rows[i + kDistance]);
  }
}

// Computes d[i * ds + j] = s[j * ss + i] for i, j < kTransposeTile. ss and ds are row strides in
// elements. All 16 rows are read before one is written. Addresses need no alignment beyond that of
// an element. The bits are only moved, so any 4-byte type may be passed as uint32_t.
inline void TransposeTile(const uint32_t* s, int64_t ss, uint32_t* d, int64_t ds) {
  // A vector of the compiler, which lowers it to narrower registers where it must.
  using Row = uint32_t __attribute__((vector_size(kTransposeTile * sizeof(uint32_t))));
  Row rows[kTransposeTile];
  for (int j = 0; j < kTransposeTile; ++j) std::memcpy(&rows[j], s + j * ss, sizeof(Row));
  SwapRows<1>(rows);
  SwapRows<2>(rows);
  SwapRows<4>(rows);
  SwapRows<8>(rows);
  for (int i = 0; i < kTransposeTile; ++i) std::memcpy(d + i * ds, &rows[i], sizeof(Row));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_TRANSPOSE_TILE_H_
