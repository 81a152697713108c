#ifndef COOPER_EXECUTOR_KERNELS_LINALG_MATRICES_AT_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_MATRICES_AT_H_

// The matrices of linalg_gemm and linalg_gemm2, whose rows may lie along any axis but the last
// (parameter `axis`), for the kernels of both devices.

#include <cstdint>

#include "ndarray/base/shape.h"

namespace cooper {

// The matrices of an array whose rows are along `axis`: outer * middle matrices, whose consecutive
// rows are `stride` elements apart and whose columns are the last axis. A negative axis counts from
// the end. For a shape (2, 3, 4, 5) and the axis 1 they are 2 * 4 matrices (3, 5) with a stride of
// 20; for the axis -2, the usual case, `middle` is 1 and each matrix is contiguous.
struct MatricesAt {
  int64_t outer, rows, middle, columns, stride;

  MatricesAt(const Shape& shape, int axis) {
    if (axis < 0) axis += shape.rank();
    const int last = shape.rank() - 1;
    outer = shape.Product(0, axis);
    rows = shape[axis];
    middle = shape.Product(axis + 1, last);
    columns = shape[last];
    stride = middle * columns;
  }
  // Returns the offset, in elements, of matrix (i, j), i < outer and j < middle.
  int64_t at(int64_t i, int64_t j) const { return i * rows * stride + j * columns; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_MATRICES_AT_H_
