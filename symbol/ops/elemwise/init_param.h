#ifndef COOPER_SYMBOL_OPS_ELEMWISE_INIT_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_INIT_PARAM_H_

// Parameters of operators without inputs. `ctx` is the device of an imperative call; in a bound
// graph the executor chooses the device, and the text is kept only for saving.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _zeros and _ones.
struct InitParam {
  std::vector<int64_t> shape;  // as MXNet writes it: 0 is unknown
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<InitParam>& d) {
    d.Field("shape", &InitParam::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &InitParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &InitParam::dtype).Doc("dtype of the output");
  }
};

// Parameters of _full.
struct FullParam {
  std::vector<int64_t> shape;
  std::string ctx;
  DType dtype = DType::kFloat32;
  double value = 0;

  static void Declare(ParamDeclaration<FullParam>& d) {
    d.Field("shape", &FullParam::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &FullParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &FullParam::dtype).Doc("dtype of the output");
    d.Field("value", &FullParam::value).Required().Doc("value of every element");
  }
};

// Parameters of _arange.
struct ArangeParam {
  double start = 0;
  std::optional<double> stop;
  double step = 1;
  int64_t repeat = 1;
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

  // Returns the first value: 0 if `stop` is missing, unless infer_range.
  double first() const { return stop.has_value() || infer_range ? start : 0; }
};

// Returns `value` as a number of `dtype`: without its fraction for integers, as in MXNet.
inline double AsNumberOf(DType dtype, double value) {
  return IsFloating(dtype) ? value : std::trunc(value);
}

// Parameters of _contrib_arange_like.
struct ArangeLikeParam {
  double start = 0;
  double step = 1;
  int64_t repeat = 1;
  std::string ctx;
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

// Parameters of _linspace.
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

// Parameters of _eye.
struct EyeParam {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t diagonal = 0;
  std::string ctx;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<EyeParam>& d) {
    d.Field("N", &EyeParam::rows).Required().Min(0).Doc("number of rows");
    d.Field("M", &EyeParam::columns).Min(0).Doc("number of columns; 0 means N");
    d.Field("k", &EyeParam::diagonal).Doc("index of the diagonal, positive ones lie above");
    d.Field("ctx", &EyeParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &EyeParam::dtype).Doc("dtype of the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_INIT_PARAM_H_
