#include <cstdint>

#include "executor/kernels/index/row_sort.h"
#include "executor/kernels/index/sort_key.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"

namespace cooper {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 4;  // per block
constexpr int kMaxEach = 32;
constexpr unsigned kAll = 0xffffffff;
// The blocks that must fit in a multiprocessor's registers. With more, threads with the most
// elements would spill.
template <int kEach, typename C>
constexpr int kBlocksSorting = kEach < kMaxEach / 2 ? 8
                               : kEach < kMaxEach   ? 6
                               : sizeof(C) <= 4     ? 4
                                                    : 3;

struct RowSort {
  int64_t rows, n, inner, k;
  bool ascend;
  DType dtype;
  int64_t element_bytes;
  const void* data;
  void* values;  // or null
  bool add_values;
  DType index_dtype;
  void* indices;  // or null
  bool add_indices;

  // Returns the offset in the output of element `rank` of a sorted row.
  __device__ int64_t To(int64_t outer, int64_t column, int rank) const {
    return (outer * k + rank) * inner + column;
  }

  template <typename C>
  __device__ void StoreValue(int64_t from, int64_t to) const {
    if (add_values) {
      StoreElement(values, dtype, to, LoadElement<C>(data, dtype, from), /*add=*/true);
    } else if (element_bytes == 4) {
      static_cast<uint32_t*>(values)[to] = static_cast<const uint32_t*>(data)[from];
    } else if (element_bytes == 2) {
      static_cast<uint16_t*>(values)[to] = static_cast<const uint16_t*>(data)[from];
    } else {
      static_cast<uint8_t*>(values)[to] = static_cast<const uint8_t*>(data)[from];
    }
  }

  __device__ void StoreIndex(int64_t index, int64_t to) const {
    if (index_dtype == DType::kFloat64) {
      StoreElement(indices, index_dtype, to, static_cast<double>(index), add_indices);
    } else if (index_dtype == DType::kFloat32 || index_dtype == DType::kFloat16 ||
               index_dtype == DType::kBfloat16) {
      StoreElement(indices, index_dtype, to, static_cast<float>(index), add_indices);
    } else {
      StoreElement(indices, index_dtype, to, index, add_indices);
    }
  }
};

// Compares and exchanges elements i and i + step within a thread, one step of the network; `step`
// is a power of 2. ascending(i) should be known at compile time or equal for all i.
template <int kEach, typename Ascending>
__device__ __forceinline__ void ExchangeInThread(int step, uint64_t (&x)[kEach],
                                                 Ascending&& ascending) {
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if ((i & step) != 0) continue;
    const uint64_t a = x[i], b = x[i ^ step];
    const bool swaps = (a > b) == ascending(i);
    x[i] = swaps ? b : a;
    x[i ^ step] = swaps ? a : b;
  }
}

// Batcher's bitonic sort of the warp's 32 * kEach numbers, of which lane l holds kEach from l *
// kEach on. Elements less than kEach apart are exchanged in registers, others by shuffles. Numbers
// must be distinct for a stable result.
template <int kEach>
__device__ __forceinline__ void SortInWarp(int lane, uint64_t (&x)[kEach]) {
#pragma unroll
  for (int size = 2; size < kEach; size *= 2) {
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
      ExchangeInThread(step, x, [size](int i) { return (i & size) == 0; });
    }
  }
  // Merges the runs of `lanes` threads, alternately up and down, and finally the whole warp, up.
#pragma unroll 1
  for (int lanes = kEach == 1 ? 2 : 1; lanes <= kWarp; lanes *= 2) {
    const bool up = lanes == kWarp || (lane & lanes) == 0;
#pragma unroll 1
    for (int step = lanes / 2; step > 0; step /= 2) {
      const bool keeps_less = ((lane & step) == 0) == up;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const uint64_t other = __shfl_xor_sync(kAll, x[i], step);
        x[i] = (other < x[i]) == keeps_less ? other : x[i];
      }
    }
#pragma unroll
    for (int step = kEach / 2; step > 0; step /= 2) {
      ExchangeInThread(step, x, [up](int) { return up; });
    }
  }
}

// Sorts a row per warp by the elements' keys, with their position in the row in the lower bits, so
// that equal elements keep their order.
template <int kEach, typename C>
__global__ void __launch_bounds__(kWarp* kWarps, kBlocksSorting<kEach, C>)
    SortRows(const RowSort s) {
  // The results of a thread are adjacent, but adjacent lanes should write adjacent elements, so
  // they exchange them here. One word is skipped after every 32 to avoid bank conflicts.
  __shared__ uint32_t sorted[kWarps][kWarp * kEach + kEach];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int n = static_cast<int>(s.n), k = static_cast<int>(s.k);
  uint32_t* const order = sorted[warp];
  for (int64_t row = blockIdx.x * int64_t{kWarps} + warp; row < s.rows;
       row += gridDim.x * int64_t{kWarps}) {
    const int64_t outer = row / s.inner, column = row - outer * s.inner;
    const int64_t base = outer * s.n * s.inner + column;
    uint64_t x[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = i * kWarp + lane;
      x[i] = ~uint64_t{0};  // after the largest key
      if (at < n) {
        const uint32_t key = NarrowSortKeyOf(LoadElement<C>(s.data, s.dtype, base + at * s.inner));
        x[i] = static_cast<uint64_t>(s.ascend ? key : ~key) << 32 | static_cast<uint32_t>(at);
      }
    }
    SortInWarp(lane, x);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int rank = lane * kEach + i;
      order[rank + rank / kWarp] = static_cast<uint32_t>(x[i]);
    }
    __syncwarp();
    for (int rank = lane; rank < k; rank += kWarp) {
      const int64_t at = order[rank + rank / kWarp], to = s.To(outer, column, rank);
      if (s.values != nullptr) s.template StoreValue<C>(base + at * s.inner, to);
      if (s.indices != nullptr) s.StoreIndex(at, to);
    }
    __syncwarp();  // until all lanes have read `order`
  }
}

template <int kEach>
absl::Status LaunchSort(const KernelContext& c, const RowSort& s) {
  if (s.n > kWarp * kEach) {
    if constexpr (kEach < kMaxEach) return LaunchSort<2 * kEach>(c, s);
  }
  constexpr int64_t kMaxBlocks = 1 << 20;
  const dim3 grid(BlocksFor((s.rows + kWarps - 1) / kWarps, kMaxBlocks));
  if (IsFloating(s.dtype)) {
    return Launch(c, grid, dim3(kWarp * kWarps), SortRows<kEach, float>, s);
  }
  return Launch(c, grid, dim3(kWarp * kWarps), SortRows<kEach, int64_t>, s);
}

}  // namespace

bool IsSortedByWarps(DType dtype, int64_t n) {
  // Shorter rows would leave most of the warp idle.
  constexpr int64_t kMin = kWarp / 2;
  return !HasWideSortKeys(dtype) && n >= kMin && n <= kWarp * kMaxEach;
}

absl::Status SortRowsByWarps(const KernelContext& c, const IndexedExtents& e, int64_t k,
                             bool ascend, const ArrayView& data, const ArrayView& values,
                             WriteReq values_req, const ArrayView& indices, WriteReq indices_req) {
  if (e.rows() * k == 0) return absl::OkStatus();
  return LaunchSort<1>(c, {.rows = e.rows(),
                           .n = e.n,
                           .inner = e.inner,
                           .k = k,
                           .ascend = ascend,
                           .dtype = data.dtype,
                           .element_bytes = SizeOf(data.dtype),
                           .data = data.data,
                           .values = values.data,
                           .add_values = values_req == WriteReq::kAdd,
                           .index_dtype = indices.dtype,
                           .indices = indices.data,
                           .add_indices = indices_req == WriteReq::kAdd});
}

}  // namespace cooper
