#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_REDUCE_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_REDUCE_FUNCTIONS_H_

// Functions of elements that reductions over axes sum, and the functions of their gradients, for
// element loops of every device.
//
// axis_reduction_kernels.h combines them with a reducer (executor/kernels/reducers/reducers.h). g
// is the gradient of the reduction's result, x an element of the data, y the result.

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Base of functions with `arity` operands. Apply is called with operands in the compute type.
// kExactIntegers says whether integer dtypes are computed in int64_t, which wraps around, or in a
// floating type.
template <int arity>
struct ReduceFunction {
  static constexpr int kArity = arity;
  static constexpr bool kExactIntegers = true;
};
// |x|, for norm with ord 1. The least integer, whose magnitude overflows, stays as it is.
struct Magnitude : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return x < 0 ? WrapNegate(x) : x;
  }
};
// 1 where x is not 0, also for NaN, otherwise 0: for all and any.
struct IsTrue : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return C(x != 0);
  }
};
// x, or 0 for NaN: for nansum.
struct NanToZero : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsNan(x) ? C{0} : x;
  }
};
// x, or 1 for NaN: for nanprod.
struct NanToOne : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsNan(x) ? C{1} : x;
  }
};
// (x - mean)^2, for the variance. `mean` is broadcast along the reduced axes. Integers wrap around.
struct SquaredDifference : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C mean) {
    const C difference = WrapSub(x, mean);
    return WrapMul(difference, difference);
  }
};
// The gradient of mean and variance, where both ograds are already divided by the number of
// elements:
//
//   g_mean + 2 * g_var * (x - mean)
//
// The mean's own dependence on x contributes nothing to the variance.
struct MomentsGrad : ReduceFunction<4> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g_mean, C g_var, C x, C mean) {
    return WrapAdd(g_mean, WrapMul(WrapMul(C{2}, g_var), WrapSub(x, mean)));
  }
};

// g * scale, for gradients that broadcast ograd: 1 for sum, 1 / n for moments. Integers wrap
// around.
struct Scaled : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C scale) {
    return WrapMul(g, scale);
  }
};
// g / n, for the gradient of mean. Division of integers truncates; n is not 0.
struct DividedBy : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C n) {
    return g / n;
  }
};
// The gradient of nansum: 0 where x is NaN. Other elements receive g.
struct NansumGrad : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x) {
    return IsNan(x) ? C{0} : g;
  }
};
// The gradient of prod, g * y / x; y is the product. NaN where x is 0. MXNet computes the same
// quotient and so has the same NaN.
struct ProdGrad : ReduceFunction<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return g * (y / x);
  }
};
// The gradient of nanprod: 0 where x is NaN.
struct NanprodGrad : ReduceFunction<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return IsNan(x) ? C{0} : g * (y / x);
  }
};
// The gradient of max and min: every element that equals the result y gets the whole gradient. Ties
// are not shared, so the gradients of equal elements sum to more than g.
struct ExtremeGrad : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return x == y ? g : C{0};
  }
};
// The gradient of norm with ord 1: g * sign(x). It is 0 at 0. The third operand, the norm, is not
// used.
struct Norm1Grad : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C) {
    return x > 0 ? g : (x < 0 ? WrapNegate(g) : C{0});
  }
};
// The gradient of the Euclidean norm y: g * x / y. The norm is not differentiable at 0; the
// gradient there is 0.
struct Norm2Grad : ReduceFunction<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return y == 0 ? C{0} : g * (x / y);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_REDUCE_FUNCTIONS_H_
