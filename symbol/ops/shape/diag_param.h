#ifndef COOPER_SYMBOL_OPS_SHAPE_DIAG_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_DIAG_PARAM_H_

// Parameters of diag. The schema is in diag.cc; linalg_extractdiag (symbol/ops/linalg) is the
// variant for batches of square matrices. MXNet: src/operator/tensor/diag_op-inl.h.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// A vector (n,) becomes the matrix (n + |k|, n + |k|) with the vector on diagonal k and zeros
// elsewhere; axis1 and axis2 have no effect. Arrays of higher rank lose axis1 (rows) and axis2
// (columns) and get a last axis with the diagonal: (5, 2, 3) with the default axes gives (3, 2).
// The gradient writes ograd to the diagonal, or takes it from there.
struct DiagParam {
  // The diagonal: columns minus rows. One outside of the matrix fails with kInvalidArgument, unless
  // outside_is_empty, which is no attribute but set for NumPy's operators.
  int64_t k = 0;
  int axis1 = 0;
  int axis2 = 1;
  bool outside_is_empty = false;

  static void Declare(ParamDeclaration<DiagParam>& d) {
    // Limit of k: a matrix with a diagonal further away would exceed the size of any array.
    constexpr int64_t kFarthest = int64_t{1} << 31;
    d.Field("k", &DiagParam::k)
        .Min(-kFarthest)
        .Max(kFarthest)
        .Doc("which diagonal: above the main one, or below if negative");
    d.Field("axis1", &DiagParam::axis1).Doc("the axis of rows");
    d.Field("axis2", &DiagParam::axis2).Doc("the axis of columns");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_DIAG_PARAM_H_
