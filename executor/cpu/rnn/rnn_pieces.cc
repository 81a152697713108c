#include "executor/cpu/rnn/rnn_pieces.h"

#include "ndarray/parallel.h"

namespace cooper {
namespace {

// Elements that a thread should have at least.
constexpr int64_t kGrain = 16384;

int64_t RowGrain(int64_t columns) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(columns, 1));
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
  // Tiles of which both sides stay in the first-level cache.
  constexpr int64_t kTile = 32;
  ParallelFor((rows + kTile - 1) / kTile, RowGrain(kTile * columns),
              [&](int64_t begin, int64_t end) {
                for (int64_t i0 = begin * kTile; i0 < std::min(end * kTile, rows); i0 += kTile) {
                  const int64_t i1 = std::min(i0 + kTile, rows);
                  for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
                    const int64_t j1 = std::min(j0 + kTile, columns);
                    for (int64_t j = j0; j < j1; ++j) {
                      for (int64_t i = i0; i < i1; ++i) {
                        out[j * out_stride + i] = in[i * columns + j];
                      }
                    }
                  }
                }
              });
}

template <typename T>
void SumRows(const T* in, int64_t rows, int64_t columns, T* sums) {
  // Columns are split over threads, rows are summed in order: the same bits for any split.
  ParallelFor(columns, std::max<int64_t>(16, kGrain / std::max<int64_t>(rows, 1)),
              [&](int64_t begin, int64_t end) {
                std::fill(sums + begin, sums + end, T(0));
                for (int64_t i = 0; i < rows; ++i) {
                  const T* row = in + i * columns;
                  for (int64_t j = begin; j < end; ++j) sums[j] += row[j];
                }
              });
}

template <typename T>
void ZeroPastLengths(const int64_t* lengths, int64_t num_steps, int64_t batch, int64_t columns,
                     T* data) {
  for (int64_t t = 0; t < num_steps; ++t) {
    for (int64_t i = 0; i < batch; ++i) {
      if (t >= lengths[i]) std::fill_n(data + (t * batch + i) * columns, columns, T(0));
    }
  }
}

void DrawMask(const Philox& random, uint64_t position, double p, int64_t n, uint8_t* mask) {
  const uint32_t threshold = static_cast<uint32_t>(p * 4294967296.0);  // p < 1
  ParallelFor((n + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto drawn = random.At(position + block);
      const int64_t count = std::min<int64_t>(4, n - 4 * block);
      for (int64_t k = 0; k < count; ++k) mask[4 * block + k] = drawn[k] >= threshold;
    }
  });
}

template <typename T>
void ApplyMask(const T* in, const uint8_t* mask, double p, int64_t n, T* out) {
  const T scale = static_cast<T>(1 / (1 - p));
  ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = mask[i] ? in[i] * scale : T(0);
  });
}

template void StoreRows(WriteReq, const float*, int64_t, int64_t, int64_t, float*);
template void StoreRows(WriteReq, const double*, int64_t, int64_t, int64_t, double*);
template void TransposeInto(const float*, int64_t, int64_t, float*, int64_t);
template void TransposeInto(const double*, int64_t, int64_t, double*, int64_t);
template void SumRows(const float*, int64_t, int64_t, float*);
template void SumRows(const double*, int64_t, int64_t, double*);
template void ZeroPastLengths(const int64_t*, int64_t, int64_t, int64_t, float*);
template void ZeroPastLengths(const int64_t*, int64_t, int64_t, int64_t, double*);
template void ApplyMask(const float*, const uint8_t*, double, int64_t, float*);
template void ApplyMask(const double*, const uint8_t*, double, int64_t, double*);

}  // namespace cooper
