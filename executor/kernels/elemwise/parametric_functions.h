#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_PARAMETRIC_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_PARAMETRIC_FUNCTIONS_H_

// Functions of one element and one or two parameters, and their gradients as functions of (ograd,
// element, parameters), for element loops of every device, in the form that elemwise_loop.h
// describes: clip, hard_sigmoid and smooth_l1. Parameters are scalar operands, rounded to the dtype
// of the output. MXNet: src/operator/tensor/matrix_op-inl.h and elemwise_unary_op.h, smooth_l1 in
// mshadow_op.h.

#include "ndarray/base/host_device.h"

namespace cooper {

// clip: min(max(x, low), high); `high` for low > high and x > high, as in MXNet. x comes first in
// the comparisons so that NaN propagates. For integers the bounds are those of ClipBoundsOf.
struct Clip {
  static constexpr int kArity = 3;
  static constexpr bool kExactIntegers = true;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C low, C high) {
    return x > high ? high : (x < low ? low : x);
  }
};

// The gradient of Clip: ograd for elements within the bounds, including the bounds themselves, and
// for NaN; 0 elsewhere.
struct ClipGrad {
  static constexpr int kArity = 4;
  static constexpr bool kExactIntegers = true;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C low, C high) {
    return x > high || x < low ? C{0} : g;
  }
};

// hard_sigmoid: clip(alpha * x + beta, 0, 1).
struct HardSigmoid {
  static constexpr int kArity = 3;
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C alpha, C beta) {
    return Clip::Apply(alpha * x + beta, C{0}, C{1});
  }
};

// The gradient of HardSigmoid: alpha times ograd for elements with a result strictly between 0 and
// 1; 0 elsewhere.
struct HardSigmoidGrad {
  static constexpr int kArity = 4;
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C alpha, C beta) {
    const C y = alpha * x + beta;
    return y > 0 && y < 1 ? g * alpha : 0;  // NOLINT: an integer never is
  }
};

// smooth_l1: 0.5 (sigma x)^2 if |x| <= 1 / sigma^2, otherwise |x| - 0.5 / sigma^2. A parabola near
// 0 that continues as a line of slope 1 (Girshick, Fast R-CNN, 2015, for sigma = 1).
struct SmoothL1 {
  static constexpr int kArity = 2;
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C sigma) {
    // For sigma = 0 the bound 1 / sigma^2 is infinite and the result is 0.
    const C square = sigma * sigma;
    const C magnitude = x < 0 ? -x : x;
    return magnitude > 1 / square ? magnitude - C{0.5} / square : C{0.5} * x * x * square;
  }
};

// The gradient of SmoothL1: ograd times the slope, which is sigma^2 x, limited to [-1, 1].
struct SmoothL1Grad {
  static constexpr int kArity = 3;
  static constexpr bool kExactIntegers = false;
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x, C sigma) {
    const C square = sigma * sigma;
    return x > 1 / square ? g : (x < -1 / square ? -g : g * square * x);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_PARAMETRIC_FUNCTIONS_H_
