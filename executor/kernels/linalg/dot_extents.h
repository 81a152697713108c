#ifndef COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_

// The extents of dot and batch_dot, for the kernels of every device. Shape inference has checked
// that the shapes fit. MXNet: src/operator/tensor/dot-inl.h.

#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/linalg/dot_param.h"

namespace cooper {

// Extents of `batch` products of matrices:
//
//   op(lhs) (m, k) * op(rhs) (k, n)
//
// op transposes as transpose_a and transpose_b say, so lhs is stored as (m, k) or (k, m).
struct DotExtents {
  int64_t batch, m, n, k;
};

// Returns the product of all extents but that of axis `summed`, which is `k`; `size` is the number
// of elements. A k of 0 needs the product itself, because the size is 0 then.
inline int64_t DotSide(int64_t size, int64_t k, const Shape& shape, int summed) {
  if (k != 0) return size / k;
  int64_t product = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != summed) product *= shape[i];
  }
  return product;
}

// Returns the extents of dot, which sums over the last axis of op(lhs) and the first axis of
// op(rhs). Other axes are merged: (2, 3, 4) and (4, 5) give m = 6, n = 5, k = 4. With transpose_a
// the first axis of lhs is summed, with transpose_b the last axis of rhs. The batch is 1.
inline DotExtents ExtentsOfDot(const DotParam& param, const Shape& lhs, const Shape& rhs) {
  const int lhs_axis = param.transpose_a ? 0 : lhs.rank() - 1;
  const int rhs_axis = param.transpose_b ? rhs.rank() - 1 : 0;
  const int64_t k = lhs[lhs_axis];
  return {1, DotSide(lhs.num_elements(), k, lhs, lhs_axis),
          DotSide(rhs.num_elements(), k, rhs, rhs_axis), k};
}

// Returns the extents of batch_dot; all axes but the last two are batch axes, which are equal on
// both sides.
inline DotExtents ExtentsOfBatchDot(const DotParam& param, const Shape& lhs, const Shape& rhs) {
  const int last = lhs.rank() - 1;
  return {lhs.Product(0, last - 1), lhs[param.transpose_a ? last : last - 1],
          rhs[param.transpose_b ? last - 1 : last], lhs[param.transpose_a ? last - 1 : last]};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_
