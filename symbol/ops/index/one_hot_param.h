#ifndef COOPER_SYMBOL_OPS_INDEX_ONE_HOT_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_ONE_HOT_PARAM_H_

#include <cstdint>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of one_hot: indices (...); the output is (..., depth).
struct OneHotArrays {
  enum Input { kIndices };
};

struct OneHotParam {
  int64_t depth = 0;
  double on_value = 1;
  double off_value = 0;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<OneHotParam>& d) {
    d.Field("depth", &OneHotParam::depth).Required().Min(0).Doc("extent of the new last axis");
    d.Field("on_value", &OneHotParam::on_value).Doc("what stands at the index");
    d.Field("off_value", &OneHotParam::off_value).Doc("what stands elsewhere");
    d.Field("dtype", &OneHotParam::dtype).Doc("dtype of the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_ONE_HOT_PARAM_H_
