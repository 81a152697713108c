#ifndef COOPER_SYMBOL_OPS_REDUCE_REDUCE_PARAM_H_
#define COOPER_SYMBOL_OPS_REDUCE_REDUCE_PARAM_H_

// Parameters of reductions.

#include <cstdint>
#include <optional>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Absent or empty means all axes.
using OptionalAxes = std::optional<std::vector<int64_t>>;

// Parameters of sum, mean and the other reductions over axes.
struct ReduceParam {
  OptionalAxes axis;
  bool keepdims = false;
  bool exclude = false;

  static void Declare(ParamDeclaration<ReduceParam>& d) {
    d.Field("axis", &ReduceParam::axis).Doc("the axes to reduce; none means all");
    d.Field("keepdims", &ReduceParam::keepdims).Doc("whether reduced axes stay, with extent 1");
    d.Field("exclude", &ReduceParam::exclude).Doc("whether to reduce the axes not given instead");
  }
};

struct NormParam {
  int ord = 2;
  OptionalAxes axis;
  std::optional<DType> out_dtype;
  bool keepdims = false;

  static void Declare(ParamDeclaration<NormParam>& d) {
    d.Field("ord", &NormParam::ord).Min(1).Max(2).Doc("1: sum of magnitudes; 2: Euclidean norm");
    d.Field("axis", &NormParam::axis).Doc("the axes to reduce; none means all");
    d.Field("out_dtype", &NormParam::out_dtype).Doc("dtype of the output; None is the input's");
    d.Field("keepdims", &NormParam::keepdims).Doc("whether reduced axes stay, with extent 1");
  }
};

// Arrays of moments: mean and variance of data over axes.
struct MomentsArrays {
  enum Input { kData };
  enum Output { kMean, kVar };
};
struct MomentsGradientArrays {
  enum Input { kMeanOgrad, kVarOgrad, kData, kMean };
};

struct MomentsParam {
  OptionalAxes axes;
  bool keepdims = false;

  static void Declare(ParamDeclaration<MomentsParam>& d) {
    d.Field("axes", &MomentsParam::axes).Doc("the axes to reduce; none means all");
    d.Field("keepdims", &MomentsParam::keepdims).Doc("whether reduced axes stay, with extent 1");
  }
};

// Parameters of argmax and argmin.
struct ArgReduceParam {
  std::optional<int64_t> axis;
  bool keepdims = false;

  static void Declare(ParamDeclaration<ArgReduceParam>& d) {
    d.Field("axis", &ArgReduceParam::axis).Doc("the axis to search; None means the flat array");
    d.Field("keepdims", &ArgReduceParam::keepdims).Doc("whether that axis stays, with extent 1");
  }
};

struct CumsumParam {
  std::optional<int64_t> axis;
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<CumsumParam>& d) {
    d.Field("axis", &CumsumParam::axis).Doc("the axis to sum along; None means the flat array");
    d.Field("dtype", &CumsumParam::dtype).Doc("dtype of the output; None is the input's");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_REDUCE_REDUCE_PARAM_H_
