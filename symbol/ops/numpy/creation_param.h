#ifndef COOPER_SYMBOL_OPS_NUMPY_CREATION_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_CREATION_PARAM_H_

// Parameters of NumPy operators that create arrays (creation.cc). `ctx` is the device of an
// imperative call. None has a gradient. MXNet: src/operator/numpy/np_init_op.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/ops/elemwise/init_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _npi_zeros and _npi_ones. Unlike in InitParam, () is a scalar and 0 an extent. The
// shape (-1, 3) takes its first extent from the users of the output.
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

// Parameters of _npi_eye. Unlike in EyeParam, the number of columns may be None. The output is (N,
// M or N): 1 where column - row is k, else 0.
struct NumpyEyeParam {
  int64_t rows = 0;
  std::optional<int64_t> columns;
  int64_t diagonal = 0;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<NumpyEyeParam>& d) {
    d.Field("N", &NumpyEyeParam::rows).Required().Min(0).Doc("number of rows");
    d.Field("M", &NumpyEyeParam::columns).Doc("number of columns; None means N");
    d.Field("k", &NumpyEyeParam::diagonal).Doc("index of the diagonal, positive ones lie above");
    d.Field("ctx", &NumpyEyeParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &NumpyEyeParam::dtype).Doc("dtype of the output");
  }
};

// Parameters of _npi_indices: for each of the n dimensions an array of these extents with the
// positions along it; the output is (n, dimensions...). Elements are exact in every dtype that
// holds the extents. A dimension of 0 gives an empty array.
struct IndicesParam {
  std::vector<int64_t> dimensions;
  DType dtype = DType::kInt32;
  std::string ctx;

  static void Declare(ParamDeclaration<IndicesParam>& d) {
    d.Field("dimensions", &IndicesParam::dimensions).Required().Doc("extents of the grid");
    d.Field("dtype", &IndicesParam::dtype).Doc("dtype of the output");
    d.Field("ctx", &IndicesParam::ctx).Doc("device of an imperative call");
  }
};

// Parameters of _npi_logspace: powers of `base`, whose exponents are those of _linspace. Values are
// computed in double and then converted to dtype.
struct LogspaceParam : LinspaceParam {
  double base = 10;

  static void Declare(ParamDeclaration<LogspaceParam>& d) {
    using P = LogspaceParam;
    d.Field("start", &P::start).Required().Doc("the first exponent");
    d.Field("stop", &P::stop).Required().Doc("the last exponent");
    d.Field("num", &P::num).Required().Min(0).Doc("number of values");
    d.Field("endpoint", &P::endpoint).Doc("whether stop is among the exponents");
    d.Field("base", &P::base).Doc("the number whose powers the values are");
    d.Field("ctx", &P::ctx).Doc("device of an imperative call");
    d.Field("dtype", &P::dtype).Doc("dtype of the output");
  }
};

// Parameters of the windows _npi_hanning, _npi_hamming and _npi_blackman: vectors of `points`
// weights, none if that is below 1 or None. Their weights are symmetric: 0.5 - 0.5 cos x (hanning),
// 0.54 - 0.46 cos x (hamming) and 0.42 - 0.5 cos x + 0.08 cos 2x (blackman), for x from 0 to 2 pi.
struct WindowParam {
  std::optional<int64_t> points;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<WindowParam>& d) {
    d.Field("M", &WindowParam::points).Doc("number of weights");
    d.Field("ctx", &WindowParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &WindowParam::dtype).Doc("dtype of the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_CREATION_PARAM_H_
