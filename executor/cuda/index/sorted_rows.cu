#include <cstdint>

#include "executor/cuda/elements.h"
#include "executor/cuda/index/sorted_rows.h"
#include "executor/cuda/shape/strided_copy.h"

namespace cooper {
namespace {

// The first of neighbouring rows of one place sums them, a thread for every column.
template <typename C>
__global__ void SumRows(int64_t outer, int64_t n, int64_t inner, int64_t count,
                        const uint64_t* places, const int32_t* numbers, DType dtype,
                        const void* src, void* dst, bool add) {
  const int64_t columns = outer * inner;
  for (int64_t i = FirstElement(); i < count * columns; i += ElementStep()) {
    const int64_t first = i / columns, at = i - first * columns;
    const uint64_t place = places[first];
    if (place >= static_cast<uint64_t>(n)) continue;
    if (first > 0 && places[first - 1] == place) continue;
    const int64_t o = at / inner, column = at - o * inner;
    const int64_t to = (o * n + static_cast<int64_t>(place)) * inner + column;
    C sum = add ? LoadElement<C>(dst, dtype, to) : C{0};
    for (int64_t k = first; k < count && places[k] == place; ++k) {
      sum += LoadElement<C>(src, dtype, (o * count + numbers[k]) * inner + column);
    }
    StoreElement(dst, dtype, to, sum, /*add=*/false);
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

absl::Status SumSortedRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, WriteReq req, const void* src, const ArrayView& dst) {
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, req, dst));
  return DispatchCompute(dst.dtype, /*exact_integers=*/true, [&](auto zero) {
    using C = decltype(zero);
    return LaunchElements(c, count * e.rows(), SumRows<C>, e.outer, e.n, e.inner, count,
                          sort.keys(), sort.values(), dst.dtype, src, dst.data,
                          req == WriteReq::kAdd);
  });
}

absl::Status WriteLastRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, const void* src, const ArrayView& dst) {
  return MoveRows(c, count, e.inner, LastOfPlace{e.n, count, sort.keys(), sort.values()}, dst.dtype,
                  WriteReq::kWrite, src, dst.data);
}

}  // namespace cooper
