#include "executor/kernels/rnn/rnn_matrix_ops.h"

#include <cstring>

#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/random/dropout_mask.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Transposes four rows of four elements in registers; compilers would transpose element by element.
template <typename T>
void TransposeFour(const T* in, int64_t stride, T* out, int64_t out_stride) {
  using Four __attribute__((vector_size(4 * sizeof(T)))) = T;
  Four a, b, c, d;
  std::memcpy(&a, in, sizeof(a));
  std::memcpy(&b, in + stride, sizeof(b));
  std::memcpy(&c, in + 2 * stride, sizeof(c));
  std::memcpy(&d, in + 3 * stride, sizeof(d));
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
  std::memcpy(out, &a, sizeof(a));
  std::memcpy(out + out_stride, &b, sizeof(b));
  std::memcpy(out + 2 * out_stride, &c, sizeof(c));
  std::memcpy(out + 3 * out_stride, &d, sizeof(d));
}

// Transposes in (rows, columns) into out (columns, rows).
template <typename T>
void TransposeTile(const T* in, int64_t stride, int64_t rows, int64_t columns, T* out,
                   int64_t out_stride) {
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t j = 0; j < whole_columns; j += 4) {
    for (int64_t i = 0; i < whole_rows; i += 4) {
      TransposeFour(in + i * stride + j, stride, out + j * out_stride + i, out_stride);
    }
  }
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i) {
      out[j * out_stride + i] = in[i * stride + j];
    }
  }
}

}  // namespace

template <typename T>
void StoreRows(WriteReq req, const T* in, int64_t stride, int64_t rows, int64_t columns, T* out) {
  if (req == WriteReq::kNull) return;
  ParallelFor(rows, RowGrain(columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = in + i * stride;
      T* to = out + i * columns;
      if (req == WriteReq::kWrite) {
        std::copy_n(from, columns, to);
      } else {
        for (int64_t j = 0; j < columns; ++j) to[j] += from[j];
      }
    }
  });
}

template <typename T>
void TransposeInto(const T* in, int64_t rows, int64_t columns, T* out, int64_t out_stride) {
  // Both sides of a tile stay in the L1 cache.
  constexpr int64_t kTile = 32;
  ParallelFor(
      (rows + kTile - 1) / kTile, RowGrain(kTile * columns), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * kTile; i < std::min(end * kTile, rows); i += kTile) {
          for (int64_t j = 0; j < columns; j += kTile) {
            TransposeTile(in + i * columns + j, columns, std::min(kTile, rows - i),
                          std::min(kTile, columns - j), out + j * out_stride + i, out_stride);
          }
        }
      });
}

template <typename T>
void ApplyMask(const T* in, const uint8_t* mask, double p, int64_t n, T* out) {
  const T scale = static_cast<T>(DropoutScale(p));
  ParallelFor(n, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = mask[i] ? in[i] * scale : T{0};
  });
}

template void StoreRows(WriteReq, const float*, int64_t, int64_t, int64_t, float*);
template void StoreRows(WriteReq, const double*, int64_t, int64_t, int64_t, double*);
template void TransposeInto(const float*, int64_t, int64_t, float*, int64_t);
template void TransposeInto(const double*, int64_t, int64_t, double*, int64_t);
template void ApplyMask(const float*, const uint8_t*, double, int64_t, float*);
template void ApplyMask(const double*, const uint8_t*, double, int64_t, double*);

}  // namespace cooper
