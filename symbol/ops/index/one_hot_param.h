#ifndef COOPER_SYMBOL_OPS_INDEX_ONE_HOT_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_ONE_HOT_PARAM_H_

// Arrays and parameters of one_hot, which turns class numbers into vectors. The schema is in
// one_hot.cc. MXNet: src/operator/tensor/indexing_op.h.

#include <cstdint>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of one_hot: indices (...), of any dtype; the output is (..., depth). There is no gradient.
struct OneHotArrays {
  enum Input { kIndices };
};

// output[..., k] is on_value where k equals the index truncated to an integer, and off_value
// elsewhere. An index outside of [0, depth) gives a vector of off_value, as in MXNet.
//
//   indices (0, 2), depth=3   gives ((1, 0, 0), (0, 0, 1))
struct OneHotParam {
  // Extent of the new last axis: the number of classes.
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
