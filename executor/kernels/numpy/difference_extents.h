#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_DIFFERENCE_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_DIFFERENCE_EXTENTS_H_

// The arrays of _neighbour_difference as rows, for the kernels of both devices. Rows of the
// differences y and of the data x lie one after the other; neighbours are `stride` elements apart:
//
//   y[row * short_row() + i] = x[row * long_row + i + stride] - x[row * long_row + i]
//
// for i in [0, short_row()).

#include <cstdint>

#include "absl/status/statusor.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/difference_param.h"

namespace cooper {

struct DifferenceExtents {
  int64_t rows, long_row, stride;  // long_row and stride in elements

  // Returns the extents for data of shape `data`. Errors: those of NormalizeAxis.
  static absl::StatusOr<DifferenceExtents> Of(const Shape& data,
                                              const NeighbourDifferenceParam& param) {
    COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, data.rank()));
    return DifferenceExtents{data.Product(0, axis), data.Product(axis, data.rank()),
                             data.Product(axis + 1, data.rank())};
  }
  // The elements of a row of differences.
  int64_t short_row() const { return long_row - stride; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_DIFFERENCE_EXTENTS_H_
