#ifndef COOPER_EXECUTOR_KERNELS_INDEX_SORTED_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_SORTED_ROWS_H_

// Scatters to places that may be the same, in the order of the rows: their numbers are sorted by
// place first. No atomics: results depend neither on the run nor on the launch, and equal the
// CPU's, but for the order of sums of many rows. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

template <typename Place>
__global__ void NumberRows(int64_t count, int64_t n, const Place place, uint64_t* keys,
                           int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t at = place(i);
    keys[i] = static_cast<uint64_t>(at < 0 ? n : at);
    values[i] = static_cast<int32_t>(i);
  }
}

// Sorts the rows [0, count), count > 0, by place(i), a number below n of a function object for
// devices; rows that are nowhere, below 0, come last with the key n.
template <typename Place>
absl::Status SortRows(const KernelContext& c, int64_t count, int64_t n, const Place& place,
                      PairSort* sort) {
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, count, NumberRows<Place>, count, n, place, sort->keys(), sort->values()));
  return sort->Sort(BitsOf(n + 1));
}

// dst (outer, n, inner) = or += the rows of src (outer, count, inner) at their places, in order;
// 16-bit floats are summed in float. e is dst's. No rows: zeroes, if kWrite.
//
// With `chunk_sums`, of ChunkSumsBytes(), more than 64 rows of one place are summed in chunks of
// 64, all at once, and these sums and what is left in order: padding is one index of a batch, over
// and over. Null: one after the other.
absl::Status SumSortedRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, WriteReq req, const void* src, const ArrayView& dst,
                           void* chunk_sums);

// For the `count` rows of `src`; a multiple of 256.
int64_t ChunkSumsBytes(const ArrayView& src, int64_t count);

// Writes to every place the last of its rows. The rest of dst stays as it is.
absl::Status WriteLastRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, const void* src, const ArrayView& dst);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_SORTED_ROWS_H_
