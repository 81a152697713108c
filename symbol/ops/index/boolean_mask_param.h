#ifndef COOPER_SYMBOL_OPS_INDEX_BOOLEAN_MASK_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_BOOLEAN_MASK_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (n, ...), index (n,). Outputs: the selected rows, followed by zeros (n, ...), and
// their number, int64 (1,).
struct BooleanMaskArrays {
  enum Input { kData, kIndex };
  enum Output { kRows, kCount };
};
struct BooleanMaskGradientArrays {
  enum Input { kOgrad, kIndex };
};

struct BooleanMaskParam {
  int axis = 0;

  static void Declare(ParamDeclaration<BooleanMaskParam>& d) {
    d.Field("axis", &BooleanMaskParam::axis).Doc("the axis of data that is masked; only 0 is");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_BOOLEAN_MASK_PARAM_H_
