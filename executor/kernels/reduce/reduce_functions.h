#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_REDUCE_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_REDUCE_FUNCTIONS_H_

// Functions of elements that reductions over axes sum, and those that their gradients are made of,
// for element loops of every device.

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/host_device.h"

namespace cooper {

template <int arity>
struct ReduceFunction {
  static constexpr int kArity = arity;
  static constexpr bool kExactIntegers = true;
};
struct Magnitude : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return x < 0 ? WrapNegate(x) : x;
  }
};
struct NanToZero : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsNan(x) ? C{0} : x;
  }
};
struct NanToOne : ReduceFunction<1> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return IsNan(x) ? C{1} : x;
  }
};
struct SquaredDifference : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C mean) {
    const C difference = WrapSub(x, mean);
    return WrapMul(difference, difference);
  }
};
// Of a mean's and a variance's gradients, both divided by the number of elements.
struct MomentsGrad : ReduceFunction<4> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g_mean, C g_var, C x, C mean) {
    return WrapAdd(g_mean, WrapMul(WrapMul(C{2}, g_var), WrapSub(x, mean)));
  }
};

// Gradients: functions of ograd and others, each broadcast from the reduced shape to data's.

struct Scaled : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C scale) {
    return WrapMul(g, scale);
  }
};
// Of integers the whole part; n is not 0.
struct DividedBy : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C n) {
    return g / n;
  }
};
struct NansumGrad : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x) {
    return IsNan(x) ? C{0} : g;
  }
};
struct ProdGrad : ReduceFunction<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return g * (y / x);
  }
};
struct NanprodGrad : ReduceFunction<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return IsNan(x) ? C{0} : g * (y / x);
  }
};
// Every element that is tied for the extreme one gets the whole gradient.
struct ExtremeGrad : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return x == y ? g : C{0};
  }
};
struct Norm1Grad : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C) {
    return x > 0 ? g : (x < 0 ? WrapNegate(g) : C{0});
  }
};
// At 0, where the norm has a kink, the gradient is taken as 0.
struct Norm2Grad : ReduceFunction<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C y) {
    return y == 0 ? C{0} : g * (x / y);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_REDUCE_FUNCTIONS_H_
