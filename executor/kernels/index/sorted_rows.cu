#include <cstdint>

#include "executor/kernels/index/sorted_rows.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/loops/strided_copy_cuda.h"

namespace cooper {
namespace {

constexpr int64_t kChunk = 64;

// The rows of src (outer, count, inner), sorted by their places below n in dst (outer, n, inner). A
// column is one of outer * inner elements.
struct SortedRows {
  int64_t outer, n, inner, count;
  const uint64_t* places;
  const int32_t* numbers;
  DType dtype;
  const void* src;

  __device__ int64_t columns() const { return outer * inner; }

  __device__ bool IsAt(uint64_t place, int64_t row) const {
    return row < count && places[row] == place;
  }

  template <typename C>
  __device__ C Load(int64_t row, int64_t column) const {
    const int64_t o = column / inner;
    return LoadElement<C>(src, dtype, (o * count + numbers[row]) * inner + column - o * inner);
  }

  // Returns the first row with the place of `row`.
  __device__ int64_t FirstOfPlace(int64_t row) const {
    int64_t low = 0, high = row;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (places[middle] < places[row]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // Returns the beginning of the chunk that begins in [i * kChunk, (i + 1) * kChunk), or -1. A
  // chunk has kChunk rows of one place, and begins a multiple of kChunk after the place's first
  // row. Chunks do not overlap, so there is at most one, and it contains the last row of the range.
  __device__ int64_t ChunkAt(int64_t i) const {
    const int64_t begin = i * kChunk, last = begin + kChunk - 1;
    const uint64_t place = places[last];
    if (place >= static_cast<uint64_t>(n)) return -1;
    const int64_t first = FirstOfPlace(last);
    const int64_t chunk =
        first >= begin ? first : first + (begin - first + kChunk - 1) / kChunk * kChunk;
    if (!IsAt(place, chunk + kChunk - 1)) return -1;
    return chunk > first || IsAt(place, chunk + kChunk) ? chunk : -1;
  }
};

// Computes sums (count / kChunk, columns), the sum of each chunk at the index of the range in which
// it begins.
template <typename C>
__global__ void SumChunks(const SortedRows rows, C* sums) {
  const int64_t columns = rows.columns();
  for (int64_t i = FirstElement(); i < rows.count / kChunk * columns; i += ElementStep()) {
    const int64_t chunk = rows.ChunkAt(i / columns);
    if (chunk < 0) continue;
    C sum = 0;
    for (int64_t k = chunk; k < chunk + kChunk; ++k) sum += rows.Load<C>(k, i % columns);
    sums[i] = sum;
  }
}

// Sums the rows of each place, with a thread per column: the thread of the first of the adjacent
// rows of a place sums all of them.
template <typename C>
__global__ void SumRows(const SortedRows rows, const C* chunk_sums, void* dst, bool add) {
  const int64_t columns = rows.columns();
  for (int64_t i = FirstElement(); i < rows.count * columns; i += ElementStep()) {
    const int64_t first = i / columns, at = i - first * columns;
    const uint64_t place = rows.places[first];
    if (place >= static_cast<uint64_t>(rows.n)) continue;
    if (first > 0 && rows.places[first - 1] == place) continue;
    const int64_t o = at / rows.inner, column = at - o * rows.inner;
    const int64_t to = (o * rows.n + static_cast<int64_t>(place)) * rows.inner + column;
    C sum = add ? LoadElement<C>(dst, rows.dtype, to) : C{0};
    int64_t k = first;
    if (chunk_sums != nullptr && rows.IsAt(place, first + kChunk)) {
      for (; rows.IsAt(place, k + kChunk - 1); k += kChunk) {
        sum += chunk_sums[k / kChunk * columns + at];
      }
    }
    for (; rows.IsAt(place, k); ++k) sum += rows.Load<C>(k, at);
    StoreElement(dst, rows.dtype, to, sum, /*add=*/false);
  }
}

struct LastOfPlace {
  int64_t n, count;
  const uint64_t* places;
  const int32_t* numbers;

  __device__ RowMove operator()(int64_t i) const {
    const uint64_t place = places[i];
    const bool last = i + 1 == count || places[i + 1] != place;
    return {numbers[i],
            last && place < static_cast<uint64_t>(n) ? static_cast<int64_t>(place) : -1};
  }
};

}  // namespace

int64_t ChunkSumsBytes(const ArrayView& src, int64_t count) {
  if (count <= kChunk) return 0;
  // 8 bytes are the largest compute type.
  const int64_t bytes = count / kChunk * (src.size() / count) * 8;
  return (bytes + 255) / 256 * 256;
}

absl::Status SumSortedRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, WriteReq req, const void* src, const ArrayView& dst,
                           void* chunk_sums) {
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, req, dst));
  if (count <= kChunk) chunk_sums = nullptr;
  const SortedRows rows{e.outer, e.n, e.inner, count, sort.keys(), sort.values(), dst.dtype, src};
  return DispatchCompute(dst.dtype, /*exact_integers=*/true, [&](auto zero) -> absl::Status {
    using C = decltype(zero);
    auto* const sums = static_cast<C*>(chunk_sums);
    if (sums != nullptr) {
      COOPER_RETURN_IF_ERROR(
          LaunchElements(c, count / kChunk * e.rows(), SumChunks<C>, rows, sums));
    }
    return LaunchElements(c, count * e.rows(), SumRows<C>, rows, sums, dst.data,
                          req == WriteReq::kAdd);
  });
}

absl::Status WriteLastRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, const void* src, const ArrayView& dst) {
  return MoveRows(c, count, e.inner, LastOfPlace{e.n, count, sort.keys(), sort.values()}, dst.dtype,
                  WriteReq::kWrite, src, dst.data);
}

}  // namespace cooper
