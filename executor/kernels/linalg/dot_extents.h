#ifndef COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_

// What dot and batch_dot come down to on every device.

#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/linalg/dot_param.h"

namespace cooper {

// The product's extents: op(lhs) (m, k), op(rhs) (k, n), for each of `batch` pairs.
struct DotExtents {
  int64_t batch, m, n, k;
};

inline int64_t DotSide(int64_t size, int64_t k, const Shape& shape, int summed) {
  if (k != 0) return size / k;
  int64_t product = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != summed) product *= shape[i];
  }
  return product;
}

inline DotExtents ExtentsOfDot(const DotParam& param, const Shape& lhs, const Shape& rhs) {
  const int lhs_axis = param.transpose_a ? 0 : lhs.rank() - 1;
  const int rhs_axis = param.transpose_b ? rhs.rank() - 1 : 0;
  const int64_t k = lhs[lhs_axis];
  return {1, DotSide(lhs.num_elements(), k, lhs, lhs_axis),
          DotSide(rhs.num_elements(), k, rhs, rhs_axis), k};
}

inline DotExtents ExtentsOfBatchDot(const DotParam& param, const Shape& lhs, const Shape& rhs) {
  const int last = lhs.rank() - 1;
  return {lhs.Product(0, last - 1), lhs[param.transpose_a ? last : last - 1],
          rhs[param.transpose_b ? last - 1 : last], lhs[param.transpose_a ? last - 1 : last]};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_DOT_EXTENTS_H_
