#ifndef COOPER_SYMBOL_OPS_NUMPY_TRIL_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_TRIL_PARAM_H_

// The parameter of _npi_tril (tril.cc). MXNet: src/operator/numpy/np_tril_op-inl.h.

#include <algorithm>
#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Element (i, j) of each matrix is kept if j <= i + k; others become 0. A matrix is the last two
// axes of the data (..., rows, columns); a vector of n elements is taken as n equal rows, so that
// its output is (n, n). The gradient is the triangle of ograd, summed over the rows for a vector.
struct TrilParam {
  int64_t k = 0;

  // Returns k within [-rows, columns], which keeps the same elements of a matrix of these extents:
  // a row plus k does not overflow.
  int64_t diagonal(int64_t rows, int64_t columns) const { return std::clamp(k, -rows, columns); }

  static void Declare(ParamDeclaration<TrilParam>& d) {
    d.Field("k", &TrilParam::k).Doc("the last diagonal that is kept; positive ones lie above");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_TRIL_PARAM_H_
