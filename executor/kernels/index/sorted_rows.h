#ifndef COOPER_EXECUTOR_KERNELS_INDEX_SORTED_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_SORTED_ROWS_H_

// Scatters rows to places of which several may be equal, in the order of the rows, by a sort of the
// row numbers by place. No atomics are used: results depend neither on the run nor on the launch.
// They equal the CPU's, except for the order of sums of many rows. For .cu files: the gradients of
// take, Embedding and gather_nd, and scatter_nd. MoveRows (move_rows.h) is for distinct places.
//
//   PairSort sort(c, count, ChunkSumsBytes(src, count));
//   SortRows(c, count, e.n, place, &sort);
//   SumSortedRows(c, e, sort, count, req, src.data, dst, c.workspace);

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// Writes pairs of a row's place, or n for a row without a place, and its number. `count` is the
// number of rows.
template <typename Place>
__global__ void NumberRows(int64_t count, int64_t n, const Place place, uint64_t* keys,
                           int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t at = place(i);
    keys[i] = static_cast<uint64_t>(at < 0 ? n : at);
    values[i] = static_cast<int32_t>(i);
  }
}

// Sorts the rows [0, count), count > 0, by place(i), a device function object that returns a number
// below n, or a negative number for rows without a place, which come last with the key n. `sort`
// has `count` pairs. Rows with equal places keep their order.
//
// Errors: those of Launch and PairSort::Sort.
template <typename Place>
absl::Status SortRows(const KernelContext& c, int64_t count, int64_t n, const Place& place,
                      PairSort* sort) {
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, count, NumberRows<Place>, count, n, place, sort->keys(), sort->values()));
  return sort->Sort(BitsOf(n + 1));
}

// Computes dst (outer, n, inner) = or += the sums of the rows of src (outer, count, inner) with
// equal places, in order; 16-bit floats are summed in float. `e` has the extents of dst. Without
// rows, kWrite stores zeros. `src` has the dtype of dst; `sort` is the result of SortRows.
//
// If `chunk_sums`, of ChunkSumsBytes() bytes, is not null, more than 64 rows of one place are
// summed in chunks of 64 in parallel, and then the chunks' sums and the remaining rows in order.
// Padding, for example, repeats one index many times.
//
// Errors: those of Launch.
absl::Status SumSortedRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, WriteReq req, const void* src, const ArrayView& dst,
                           void* chunk_sums);

// Returns the bytes for the `count` rows of `src`, a multiple of 256; 0 for up to 64 rows, which
// need no chunks. Host code.
int64_t ChunkSumsBytes(const ArrayView& src, int64_t count);

// Stores at every place the last of its rows, as sequential assignments would. Other rows of dst
// stay unchanged. `e` has the extents of dst, whose `outer` is 1. One launch.
//
// Errors: those of Launch.
absl::Status WriteLastRows(const KernelContext& c, const IndexedExtents& e, const PairSort& sort,
                           int64_t count, const void* src, const ArrayView& dst);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_SORTED_ROWS_H_
