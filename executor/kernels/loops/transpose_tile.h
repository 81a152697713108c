#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_TRANSPOSE_TILE_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_TRANSPOSE_TILE_H_

// Transposes a square that fits in registers. Each row is read and written as a whole: rows whose
// distance is a power of two share a few cache sets, and would evict each other if they were read
// element by element. strided_copy.cc calls it for elements of 4 bytes, with the side that the
// processor has registers for. Correct at every CpuLevel.
//
// The method exchanges off-diagonal blocks of 1, 2, 4 ... elements: the recursion that transposes a
// 2 x 2 matrix of blocks, from the smallest blocks upward.

#include <cstdint>
#include <cstring>
#include <utility>

namespace cooper {

// Exchanges the elements of two rows, kDistance apart, that a transposition exchanges: element 1 of
// row 0 with element 0 of row 1, and so on. kDistance is a power of two less than the elements of a
// Row, a vector of the compiler, whose numbers are kLane. A shuffle numbers the elements of x from
// 0 and those of y behind them.
template <int kDistance, typename Row, int... kLane>
void SwapHalves(Row& a, Row& b, std::integer_sequence<int, kLane...>) {
  constexpr int kSide = sizeof...(kLane);
  const Row x = a, y = b;
  a = __builtin_shufflevector(x, y,
                              ((kLane & kDistance) == 0 ? kLane : kLane - kDistance + kSide)...);
  b = __builtin_shufflevector(x, y,
                              ((kLane & kDistance) == 0 ? kLane + kDistance : kLane + kSide)...);
}

// Does the steps of a transposition from kDistance on: exchanges blocks of kDistance elements in
// all pairs of rows that are kDistance apart, then larger blocks.
template <int kSide, int kDistance, typename Row>
void SwapRows(Row* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) {
    if ((i & kDistance) != 0) continue;
    SwapHalves<kDistance>(rows[i], rows[i + kDistance], std::make_integer_sequence<int, kSide>());
  }
  if constexpr (2 * kDistance < kSide) SwapRows<kSide, 2 * kDistance>(rows);
}

// Rows of tiles, vectors of the compiler: a tile of side 16 has enough registers with AVX-512, one
// of side 8 with AVX2.
using RowOf16 = uint32_t __attribute__((vector_size(16 * sizeof(uint32_t))));
using RowOf8 = uint32_t __attribute__((vector_size(8 * sizeof(uint32_t))));

// Computes d[i * ds + j] = s[j * ss + i] for i, j less than the elements of a Row. ss and ds are
// row strides in elements. All rows are read before one is written. Addresses need no alignment
// beyond that of an element. The bits are only moved, so any 4-byte type may be passed as uint32_t.
template <typename Row>
void TransposeTile(const uint32_t* s, int64_t ss, uint32_t* d, int64_t ds) {
  constexpr int kSide = sizeof(Row) / sizeof(uint32_t);
  Row rows[kSide];  // in registers, if all loops are unrolled
#pragma GCC unroll 16
  for (int j = 0; j < kSide; ++j) std::memcpy(&rows[j], s + j * ss, sizeof(Row));
  SwapRows<kSide, 1>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) std::memcpy(d + i * ds, &rows[i], sizeof(Row));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_TRANSPOSE_TILE_H_
