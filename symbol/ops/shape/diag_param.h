#ifndef COOPER_SYMBOL_OPS_SHAPE_DIAG_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_DIAG_PARAM_H_

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

struct DiagParam {
  int64_t k = 0;
  int axis1 = 0;
  int axis2 = 1;

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
