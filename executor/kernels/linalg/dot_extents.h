#ifndef COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_

// The extents of dot and batch_dot, for the kernels of every device.

#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/linalg/dot_param.h"

namespace cooper {

// Extents of the products op(lhs) (m, k) * op(rhs) (k, n) of `batch` pairs.
struct DotExtents {
  int64_t batch, m, n, k;
};

// Returns the product of all extents but that of axis `summed`, which is `k`; `size` is the number
// of elements.
inline int64_t DotSide(int64_t size, int64_t k, const Shape& shape, int summed) {
  if (k != 0) return size / k;
  int64_t product = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != summed) product *= shape[i];
  }
  return product;
}

// Returns the extents of dot, which sums over the last axis of op(lhs) and the first axis of
// op(rhs). Other axes are merged.
inline DotExtents ExtentsOfDot(const DotParam& param, const Shape& lhs, const Shape& rhs) {
  const int lhs_axis = param.transpose_a ? 0 : lhs.rank() - 1;
  const int rhs_axis = param.transpose_b ? rhs.rank() - 1 : 0;
  const int64_t k = lhs[lhs_axis];
  return {1, DotSide(lhs.num_elements(), k, lhs, lhs_axis),
          DotSide(rhs.num_elements(), k, rhs, rhs_axis), k};
}

// Returns the extents of batch_dot; all axes but the last two are batch axes.
inline DotExtents ExtentsOfBatchDot(const DotParam& param, const Shape& lhs, const Shape& rhs) {
  const int last = lhs.rank() - 1;
  return {lhs.Product(0, last - 1), lhs[param.transpose_a ? last : last - 1],
          rhs[param.transpose_b ? last - 1 : last], lhs[param.transpose_a ? last - 1 : last]};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_
