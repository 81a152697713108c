#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_ACTIVATION_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_ACTIVATION_FUNCTIONS_H_

// The functions of Activation and their gradients, for element loops of every device, in the form
// that elemwise_loop.h describes. A gradient takes (ograd, value), where value is the function's
// output y or, for softsign, its input x. The operators relu, sigmoid, softsign and tanh and the
// fused operators use the same functions. MXNet: src/operator/mshadow_op.h. unary_functions.h has
// other functions of one element.

#include <cmath>

#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Declares struct Name, whose Apply returns `value`, an expression of the arguments.
// COOPER_ACTIVATION declares a function that is computed in floating point for integers too.
#define COOPER_ACTIVATION_OF(Name, exact_integers, arity, arguments, value) \
  struct Name {                                                             \
    static constexpr int kArity = arity;                                    \
    static constexpr bool kExactIntegers = exact_integers;                  \
    template <typename C>                                                   \
    COOPER_HOST_DEVICE static C Apply arguments {                           \
      return value;                                                         \
    }                                                                       \
  }
#define COOPER_ACTIVATION(Name, arity, arguments, value) \
  COOPER_ACTIVATION_OF(Name, false, arity, arguments, value)

// The functions of Activation:
//
//   Relu max(x, 0), Sigmoid 1 / (1 + exp(-x)), Tanh tanh(x), SoftRelu log(1 + exp(x)),
//   SoftSign x / (1 + |x|)
//
// Relu is written so that NaN propagates; Relu of -0 is -0.
COOPER_ACTIVATION_OF(Relu, true, 1, (C x), x < 0 ? 0 : x);
COOPER_ACTIVATION(Sigmoid, 1, (C x), VectorSigmoid(x));
COOPER_ACTIVATION(Tanh, 1, (C x), VectorTanh(x));
COOPER_ACTIVATION(SoftRelu, 1, (C x), VectorSoftRelu(x));
COOPER_ACTIVATION(SoftSign, 1, (C x), x / (1 + std::fabs(x)));

// Gradients are functions of ograd and the output; SoftSignGrad takes the input. ReluGrad
// propagates NaN, and is 0 at y = 0. SoftReluGrad uses 1 - exp(-y), the sigmoid of x.
COOPER_ACTIVATION_OF(ReluGrad, true, 2, (C g, C y), y > 0 ? g : (y != y ? y : 0));
COOPER_ACTIVATION(SigmoidGrad, 2, (C g, C y), g*(y*(1 - y)));
COOPER_ACTIVATION(TanhGrad, 2, (C g, C y), g*(1 - y * y));
COOPER_ACTIVATION(SoftReluGrad, 2, (C g, C y), -g* VectorExpm1OfNonPositive(-y));
COOPER_ACTIVATION(SoftSignGrad, 2, (C g, C x), g / ((1 + std::fabs(x)) * (1 + std::fabs(x))));

#undef COOPER_ACTIVATION
#undef COOPER_ACTIVATION_OF

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_ACTIVATION_FUNCTIONS_H_
