#ifndef COOPER_SYMBOL_OPS_SHAPE_EXPAND_DIMS_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_EXPAND_DIMS_PARAM_H_

// Parameters of expand_dims, whose schema is in flatten.cc beside Flatten and squeeze. MXNet:
// src/operator/tensor/matrix_op.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// The output is data with a new axis of extent 1, in the same memory. axis is its position in the
// output; negative ones count from the end of the output's axes, so -1 appends the axis. The
// gradient is ograd with data's shape.
struct ExpandDimsParam {
  int axis = 0;

  static void Declare(ParamDeclaration<ExpandDimsParam>& d) {
    d.Field("axis", &ExpandDimsParam::axis)
        .Required()
        .Doc("where the new axis stands in the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_EXPAND_DIMS_PARAM_H_
