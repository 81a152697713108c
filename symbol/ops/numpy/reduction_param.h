#ifndef COOPER_SYMBOL_OPS_NUMPY_REDUCTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_REDUCTION_PARAM_H_

// Parameters of NumPy reductions (reductions.cc), and the axes that they reduce. Unlike the older
// reductions (symbol/ops/reduce) they give a scalar () if no axis remains, and axis=() reduces
// none. MXNet: src/operator/numpy/np_broadcast_reduce_op.h, np_moments_op.cc.

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _np_max and _np_min, and the first ones of the other reductions.
struct NumpyReduceParam {
  OptionalAxes axis;  // None: all axes
  bool keepdims = false;
  // Must be None: MXNet declares it, but computes nothing with it.
  std::optional<double> initial;

  static void Declare(ParamDeclaration<NumpyReduceParam>& d) { DeclareIn(d); }

  // Declares the fields above for P, which derives from this struct.
  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("axis", &NumpyReduceParam::axis).Doc("the axes to reduce; None means all");
    d.Field("keepdims", &NumpyReduceParam::keepdims)
        .Doc("whether reduced axes stay, with extent 1");
    d.Field("initial", &NumpyReduceParam::initial).Doc("must be None, as MXNet wants it");
  }
};

// Parameters of _np_sum, _np_prod and _npi_mean. Without a dtype sums and products of bools are
// int64, means of integers and bools are float32, and other results have data's dtype.
struct NumpySumParam : NumpyReduceParam {
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<NumpySumParam>& d) {
    DeclareIn(d);
    d.Field("dtype", &NumpySumParam::dtype).Doc("dtype of the output");
  }
};

// Parameters of _npi_var and _npi_std: the sum of squared differences from the mean, divided by n -
// ddof for n elements; std is its root. No gradient, as in MXNet.
struct NumpyMomentsParam {
  OptionalAxes axis;
  std::optional<DType> dtype;
  int ddof = 0;
  bool keepdims = false;

  static void Declare(ParamDeclaration<NumpyMomentsParam>& d) {
    d.Field("axis", &NumpyMomentsParam::axis).Doc("the axes to reduce; None means all");
    d.Field("dtype", &NumpyMomentsParam::dtype).Doc("dtype of the output; None is the input's");
    d.Field("ddof", &NumpyMomentsParam::ddof)
        .Doc("what is subtracted from the number of elements in the divisor");
    d.Field("keepdims", &NumpyMomentsParam::keepdims)
        .Doc("whether reduced axes stay, with extent 1");
  }
};

// Parameters of _npi_norm. Only the norms over the elements are computed: ord 1, the sum of
// magnitudes, and ord 2, the root of the sum of squares, which is also the Frobenius norm of
// matrices. Inference fails with kInvalidArgument for other norms of vectors and those of matrices
// that need singular values or sums of rows. The gradients are those of norm.
struct NumpyNormParam {
  // How MXNet's front end was called, in `flag`.
  enum Flag { kFlat = -2, kByOrder = -1, kNone = 0, kFrobenius = 1 };

  double ord = 2;
  OptionalAxes axis;
  bool keepdims = false;
  int flag = kByOrder;

  static void Declare(ParamDeclaration<NumpyNormParam>& d) {
    d.Field("ord", &NumpyNormParam::ord).Doc("1 or 2, if flag is -1");
    d.Field("axis", &NumpyNormParam::axis).Doc("the axes to reduce; None means all");
    d.Field("keepdims", &NumpyNormParam::keepdims).Doc("whether reduced axes stay, with extent 1");
    d.Field("flag", &NumpyNormParam::flag)
        .Doc("-2: all elements, -1: a norm of vectors by ord, 0 and 1: Frobenius");
  }

  // Returns whether it is the sum of magnitudes.
  bool is_sum() const { return flag == kByOrder && ord == 1; }
  // Returns whether cooper computes the norm.
  bool is_supported() const {
    if (flag != kByOrder) return flag == kFlat || flag == kNone || flag == kFrobenius;
    const bool of_matrices = axis.has_value() && axis->size() > 1;
    return (ord == 1 || ord == 2) && !of_matrices;
  }
};

// Arrays of the gradients of _np_max, _np_min, _np_prod and _npi_norm. kOutput is the result of the
// reduction, by which the elements are found that were the maximum or minimum: each of several
// equal ones gets the whole gradient. For a product it is what ograd / data is multiplied by, so
// the gradient is NaN where data is 0 (executor/kernels/reduce/reduce_functions.h).
struct NumpyReduceGradientArrays {
  enum Input { kOgrad, kData, kOutput };
};

// Parameters of _np_all and _np_any. An element is true if it is not 0: NaN is true.
struct NumpyTruthParam {
  OptionalAxes axis;
  bool keepdims = false;

  static void Declare(ParamDeclaration<NumpyTruthParam>& d) {
    d.Field("axis", &NumpyTruthParam::axis).Doc("the axes to reduce; None means all");
    d.Field("keepdims", &NumpyTruthParam::keepdims).Doc("whether reduced axes stay, with extent 1");
  }
};

// Returns a mask in which bit i is set if axis i of an array of `rank` axes is reduced. A scalar
// has no axis, but accepts 0 and -1. Fails with kInvalidArgument for axes out of range or given
// twice, and for more than 63 axes.
absl::StatusOr<uint64_t> NumpyReducedAxes(const OptionalAxes& axes, int rank);

// Returns `shape`, whose rank must be known, without the reduced axes, or with extents of 1 there
// (keepdims).
PartialShape NumpyReducedShape(const PartialShape& shape, uint64_t reduced, bool keepdims);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_REDUCTION_PARAM_H_
