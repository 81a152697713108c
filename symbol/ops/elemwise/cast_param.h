#ifndef COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_

#include "ndarray/dtype.h"
#include "symbol/param_schema.h"

namespace cooper {

struct CastParam {
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<CastParam>& d) {
    d.Field("dtype", &CastParam::dtype).Required().Doc("dtype of the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_
