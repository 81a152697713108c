#ifndef COOPER_EXECUTOR_KERNELS_INDEX_KEPT_POSITIONS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_KEPT_POSITIONS_H_

// The positions that an operator keeps, as indices for CopyIndexedRows and AddIndexedRows
// (indexed_rows.h): for boolean_mask, nonzero, delete and unique, on the CPU. Positions are int64
// and lie in the kernel's workspace.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Returns the first `count` positions of a workspace as an array (count,).
inline ArrayView PositionsView(void* workspace, int64_t count) {
  return {.data = workspace, .shape = Shape({count}), .dtype = DType::kInt64};
}

// Writes the positions of elements of `mask`, of any dtype, that are not 0 to `workspace`, which
// has room for all positions, and returns them in order. NaN is not 0. Uses several threads.
ArrayView FindNonzero(const ArrayView& mask, void* workspace);

// Computes out (count, axes) = or += the indices along each axis of the elements of `x` that are
// not 0, in order, and returns their number. A scalar has one axis of one element. With kNull the
// elements are only counted; otherwise `out` has room for the indices of all elements. Uses several
// threads.
int64_t WriteNonzeroIndices(const ArrayView& x, WriteReq req, int64_t* out);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_KEPT_POSITIONS_H_
