#ifndef COOPER_SYMBOL_OPS_NUMPY_CREATION_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_CREATION_PARAM_H_

// Parameters of NumPy operators that create arrays (creation.cc). `ctx` is the device of an
// imperative call. None has a gradient. MXNet: src/operator/numpy/np_init_op.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _npi_zeros and _npi_ones. Unlike in InitParam, () is a scalar and 0 an extent.
struct NumpyInitParam {
  std::vector<int64_t> shape;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<NumpyInitParam>& d) {
    d.Field("shape", &NumpyInitParam::shape).Doc("shape of the output; -1 is inferred");
    d.Field("ctx", &NumpyInitParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &NumpyInitParam::dtype).Doc("dtype of the output");
  }
};

// Parameters of _npi_full_like: an array of the input's shape with one value in every element.
struct NumpyFullLikeParam {
  double fill_value = 0;
  std::string ctx;
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<NumpyFullLikeParam>& d) {
    d.Field("fill_value", &NumpyFullLikeParam::fill_value).Required().Doc("value of every element");
    d.Field("ctx", &NumpyFullLikeParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &NumpyFullLikeParam::dtype).Doc("dtype of the output; None is the input's");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_CREATION_PARAM_H_
