#ifndef COOPER_EXECUTOR_KERNELS_INDEX_ROW_SORT_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_ROW_SORT_H_

// Sorts each row of an array by itself, in the registers of a warp, without scratch memory: rows of
// some dozens to a thousand elements, which radix_sort.h would move through memory several times.
// For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Whether SortRowsByWarps takes rows of n such elements.
bool IsSortedByWarps(DType dtype, int64_t n);

// Writes to `values` and `indices`, of shape (outer, k, inner), the first k elements of each sorted
// row of data (outer, n, inner), and where in its row each was. Equal elements keep their order; -0
// and 0 are equal, and NaN is larger than everything. An output that has no data is left out.
absl::Status SortRowsByWarps(const KernelContext& c, const IndexedExtents& e, int64_t k,
                             bool ascend, const ArrayView& data, const ArrayView& values,
                             WriteReq values_req, const ArrayView& indices, WriteReq indices_req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_ROW_SORT_H_
