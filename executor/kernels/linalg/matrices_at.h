#ifndef COOPER_EXECUTOR_KERNELS_LINALG_MATRICES_AT_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_MATRICES_AT_H_

#include <cstdint>

#include "ndarray/base/shape.h"

namespace cooper {

// The matrices of an array whose rows are along `axis`: outer * middle matrices, whose consecutive
// rows are `stride` elements apart. A negative axis counts from the end.
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
  // Returns the offset of matrix (i, j).
  int64_t at(int64_t i, int64_t j) const { return i * rows * stride + j * columns; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_MATRICES_AT_H_
