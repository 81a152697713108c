#ifndef COOPER_EXECUTOR_KERNELS_INDEX_ROW_SORT_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_ROW_SORT_H_

// Sorts each row of an array in the registers of a warp, without scratch memory. For rows of up to
// 1024 elements, which radix_sort.h would move through memory several times. For .cu files: topk,
// sort and argsort. The method is Batcher's bitonic sort (Sorting Networks and Their Applications,
// 1968).

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Returns whether SortRowsByWarps supports rows of n elements of `dtype`: dtypes of up to 32 bits,
// n from 16, below which most of a warp would be idle, to 1024. Prepare asks it too, to know the
// workspace.
bool IsSortedByWarps(DType dtype, int64_t n);

// Writes to `values` and `indices`, of shape (outer, k, inner), the first k elements of each sorted
// row of data (outer, n, inner), and their positions in the row. Equal elements keep their order,
// -0 equals 0, and NaN is larger than all other values. An output with null data is skipped.
//
// `values` has the dtype of `data`, `indices` any; a position that the dtype cannot represent is
// rounded or, in an integer, wraps around. k <= n. Written values keep their bits. The outputs do
// not overlap `data`. One launch.
//
// Errors: those of Launch.
absl::Status SortRowsByWarps(const KernelContext& c, const IndexedExtents& e, int64_t k,
                             bool ascend, const ArrayView& data, const ArrayView& values,
                             WriteReq values_req, const ArrayView& indices, WriteReq indices_req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_ROW_SORT_H_
