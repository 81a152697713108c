#ifndef COOPER_SYMBOL_OPS_REDUCE_REDUCE_PARAM_H_
#define COOPER_SYMBOL_OPS_REDUCE_REDUCE_PARAM_H_

// Parameters of reductions: sums, products and extremes over axes, norms and moments
// (axis_reductions.cc), and the positions of extremes and running sums (arg_reductions.cc).
// reduce_axes.h interprets the axes. MXNet: src/operator/tensor/broadcast_reduce_*.cc,
// src/operator/nn/moments.cc, src/operator/numpy/np_cumsum.cc.

#include <cstdint>
#include <optional>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Axes as attributes have them: absent or empty means all axes; negative axes count from the end.
using OptionalAxes = std::optional<std::vector<int64_t>>;

// Parameters of sum, mean, prod, nansum, nanprod, max and min. The output has data's dtype;
// integers wrap around. With g the head gradient, repeated to data's shape, y the output, and n the
// number of elements of a mean, the gradients are
//
//   sum g;   mean g / n;   prod g * y / x;   max and min g where x == y, for all equal elements
//
// nansum and nanprod skip NaN, whose gradient is 0. The gradient of prod is NaN where x is 0, as in
// MXNet. max and min of an empty array fail with kInvalidArgument in inference.
struct ReduceParam {
  OptionalAxes axis;
  // Whether reduced axes stay with extent 1, so that the output broadcasts to data.
  bool keepdims = false;
  bool exclude = false;

  static void Declare(ParamDeclaration<ReduceParam>& d) {
    d.Field("axis", &ReduceParam::axis).Doc("the axes to reduce; none means all");
    d.Field("keepdims", &ReduceParam::keepdims).Doc("whether reduced axes stay, with extent 1");
    d.Field("exclude", &ReduceParam::exclude).Doc("whether to reduce the axes not given instead");
  }
};

// Parameters of norm over the axes: the sum of |x| (ord 1) or the root of the sum of squares (ord
// 2). The gradients are g * sign(x) and g * x / y, which is 0 where y is 0.
struct NormParam {
  int ord = 2;
  OptionalAxes axis;
  // Dtype of the output; the input then has any.
  std::optional<DType> out_dtype;
  bool keepdims = false;

  static void Declare(ParamDeclaration<NormParam>& d) {
    d.Field("ord", &NormParam::ord).Min(1).Max(2).Doc("1: sum of magnitudes; 2: Euclidean norm");
    d.Field("axis", &NormParam::axis).Doc("the axes to reduce; none means all");
    d.Field("out_dtype", &NormParam::out_dtype).Doc("dtype of the output; None is the input's");
    d.Field("keepdims", &NormParam::keepdims).Doc("whether reduced axes stay, with extent 1");
  }
};

// Arrays of moments: mean and biased variance of data over the axes, of the reduced shape and
// data's dtype.
struct MomentsArrays {
  enum Input { kData };
  enum Output { kMean, kVar };
};
// The gradient of data is (g_mean + 2 * g_var * (data - mean)) / n for n elements per mean.
struct MomentsGradientArrays {
  enum Input { kMeanOgrad, kVarOgrad, kData, kMean };
};

// Parameters of moments.
struct MomentsParam {
  OptionalAxes axes;
  bool keepdims = false;

  static void Declare(ParamDeclaration<MomentsParam>& d) {
    d.Field("axes", &MomentsParam::axes).Doc("the axes to reduce; none means all");
    d.Field("keepdims", &MomentsParam::keepdims).Doc("whether reduced axes stay, with extent 1");
  }
};

// Parameters of argmax and argmin: the position of the first extreme element along the axis, or of
// the first NaN, as a number of data's dtype, as in MXNet; float32 is exact only up to 2^24. No
// gradient. argmax_channel, without parameters, is argmax along axis 1.
struct ArgReduceParam {
  std::optional<int64_t> axis;
  bool keepdims = false;

  static void Declare(ParamDeclaration<ArgReduceParam>& d) {
    d.Field("axis", &ArgReduceParam::axis).Doc("the axis to search; None means the flat array");
    d.Field("keepdims", &ArgReduceParam::keepdims).Doc("whether that axis stays, with extent 1");
  }
};

// Parameters of cumsum: element i is the sum of the elements up to i. Without an axis data is
// flattened. The gradient is the running sum of ograd from the other end.
struct CumsumParam {
  std::optional<int64_t> axis;
  // None is data's, but int64 for bool, whose sums are counts.
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<CumsumParam>& d) {
    d.Field("axis", &CumsumParam::axis).Doc("the axis to sum along; None means the flat array");
    d.Field("dtype", &CumsumParam::dtype).Doc("dtype of the output; None is the input's");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_REDUCE_REDUCE_PARAM_H_
