#ifndef COOPER_SYMBOL_OPS_INDEX_BOOLEAN_MASK_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_BOOLEAN_MASK_PARAM_H_

// Arrays and parameters of _contrib_boolean_mask, which keeps the rows that a mask marks. Their
// number depends on values (symbol/schema/counted_shapes.h). The schema is in boolean_mask.cc.
// MXNet: src/operator/contrib/boolean_mask.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (n, ...), index (n,) of any dtype. Outputs: the rows of data where index is not 0,
// in their order, at most (n, ...), and, hidden, their shape.
//
//   data ((1, 2), (3, 4), (5, 6)), index (0, 1, 1)   gives ((3, 4), (5, 6))
struct BooleanMaskArrays {
  enum Input { kData, kIndex };
  enum Output { kRows, kShapes };
};
// The gradient copies row i of ograd to the i-th marked row of data and sets the other rows to 0.
// Rows of ograd after the marked ones are ignored. index has no gradient.
struct BooleanMaskGradientArrays {
  enum Input { kOgrad, kIndex };
};

// Parameters of _contrib_boolean_mask.
struct BooleanMaskParam {
  // The axis that the mask selects along. Shape inference fails with kInvalidArgument unless it is
  // 0; so does MXNet.
  int axis = 0;

  static void Declare(ParamDeclaration<BooleanMaskParam>& d) {
    d.Field("axis", &BooleanMaskParam::axis).Doc("the axis of data that is masked; only 0 is");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_BOOLEAN_MASK_PARAM_H_
