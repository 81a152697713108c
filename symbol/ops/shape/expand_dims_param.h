#ifndef COOPER_SYMBOL_OPS_SHAPE_EXPAND_DIMS_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_EXPAND_DIMS_PARAM_H_

// Parameters of expand_dims.

#include "symbol/schema/param_schema.h"

namespace cooper {

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
