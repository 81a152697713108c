#ifndef COOPER_SYMBOL_OPS_ELEMWISE_INIT_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_INIT_PARAM_H_

// Parameters of the operators in init.cc, which generate arrays from numbers: _zeros, _ones, _full,
// _arange, _linspace, _eye, and _contrib_arange_like, which takes only the shape of its input. None
// has a gradient. MXNet: src/operator/tensor/init_op.cc.
//
// `ctx` is the device of an imperative call; in a bound graph the executor chooses the device, and
// the text is kept only for saving. Values are computed in double, or in int64 for a range of an
// integer dtype, and then converted to the dtype.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _zeros and _ones. A complete shape that the consumers of the output require takes
// precedence over a shape with unknown extents: cells of an RNN declare their begin state as (0,
// num_hidden) and get the batch size from data.
struct InitParam {
  // Extents in MXNet's notation; () is an unknown rank.
  std::vector<int64_t> shape;  // as MXNet writes it: 0 is unknown
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<InitParam>& d) {
    d.Field("shape", &InitParam::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &InitParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &InitParam::dtype).Doc("dtype of the output");
  }
};

// Parameters of _full: an array of `shape` with `value` in every element. The shape is inferred as
// in InitParam.
struct FullParam {
  std::vector<int64_t> shape;
  std::string ctx;
  DType dtype = DType::kFloat32;
  // A double: an int64 output cannot get every integer above 2^53.
  double value = 0;

  static void Declare(ParamDeclaration<FullParam>& d) {
    d.Field("shape", &FullParam::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &FullParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &FullParam::dtype).Doc("dtype of the output");
    d.Field("value", &FullParam::value).Required().Doc("value of every element");
  }
};

// Parameters of _arange: the vector start, start + step, ... of all values before stop, each
// `repeat` times. Its length is ceil((stop - start) / step) * repeat; the shape rule fails with
// kInvalidArgument if that is negative or not finite. Value i is computed as start + i * step, so
// rounding errors do not accumulate. For an integer dtype start and step are truncated first, as in
// MXNet.
//
//   start=2, stop=8, step=3, repeat=2   gives 2 2 5 5
//   start=3                             gives 0 1 2
struct ArangeParam {
  double start = 0;
  // Exclusive end. Without it the values are 0, step, ... before start, unless infer_range.
  std::optional<double> stop;
  double step = 1;
  int64_t repeat = 1;
  // If true and stop is absent, the length comes from the consumers of the output, and start is the
  // first value.
  bool infer_range = false;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<ArangeParam>& d) {
    d.Field("start", &ArangeParam::start)
        .Required()
        .Doc("the first value; without stop the values are those below start, from 0");
    d.Field("stop", &ArangeParam::stop).Doc("all values are before it");
    d.Field("step", &ArangeParam::step).Doc("from one value to the next");
    d.Field("repeat", &ArangeParam::repeat).Min(1).Doc("how often each value stands");
    d.Field("infer_range", &ArangeParam::infer_range)
        .Doc("whether the number of values is inferred from the output's shape");
    d.Field("ctx", &ArangeParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &ArangeParam::dtype).Doc("dtype of the output");
  }

  // Returns the first value: 0 if `stop` is missing, unless infer_range. The kernels use this
  // instead of start.
  double first() const { return stop.has_value() || infer_range ? start : 0; }
};

// Returns `value` as a number of `dtype`: without its fraction for integers, as in MXNet. The
// result is not limited to the range of the dtype.
inline double AsNumberOf(DType dtype, double value) {
  return IsFloating(dtype) ? value : std::trunc(value);
}

// Parameters of _contrib_arange_like: values start, start + step, ..., each `repeat` times in
// succession, counted in memory order. The number of elements comes from data, whose elements are
// not read; the output has data's dtype.
struct ArangeLikeParam {
  double start = 0;
  double step = 1;
  int64_t repeat = 1;
  std::string ctx;
  // If set, the output is a vector with data's extent of this axis, which may be negative.
  // Otherwise it has data's shape.
  std::optional<int64_t> axis;

  static void Declare(ParamDeclaration<ArangeLikeParam>& d) {
    d.Field("start", &ArangeLikeParam::start).Doc("the first value");
    d.Field("step", &ArangeLikeParam::step).Doc("from one value to the next");
    d.Field("repeat", &ArangeLikeParam::repeat).Min(1).Doc("how often each value stands");
    d.Field("ctx", &ArangeLikeParam::ctx).Doc("device of an imperative call");
    d.Field("axis", &ArangeLikeParam::axis)
        .Doc("the axis whose extent is the number of values; None: the input's shape is taken");
  }
};

// Parameters of _linspace: the vector start + i * step for i < num, with step (stop - start) / (num
// - 1), or (stop - start) / num without endpoint. The last value may differ from stop by rounding.
struct LinspaceParam {
  double start = 0;
  double stop = 0;
  int64_t num = 0;
  bool endpoint = true;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<LinspaceParam>& d) {
    d.Field("start", &LinspaceParam::start).Required().Doc("the first value");
    d.Field("stop", &LinspaceParam::stop).Required().Doc("the last value");
    d.Field("num", &LinspaceParam::num).Required().Min(0).Doc("number of values");
    d.Field("endpoint", &LinspaceParam::endpoint).Doc("whether stop is among the values");
    d.Field("ctx", &LinspaceParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &LinspaceParam::dtype).Doc("dtype of the output");
  }
};

// Parameters of _eye: the matrix (N, M) with 1 at (i, i + k) and 0 elsewhere. A diagonal outside of
// the matrix gives zeros.
struct EyeParam {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t diagonal = 0;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<EyeParam>& d) {
    d.Field("N", &EyeParam::rows).Required().Min(0).Doc("number of rows");
    d.Field("M", &EyeParam::columns).Doc("number of columns; 0 or less means N");
    d.Field("k", &EyeParam::diagonal).Doc("index of the diagonal, positive ones lie above");
    d.Field("ctx", &EyeParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &EyeParam::dtype).Doc("dtype of the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_INIT_PARAM_H_
