#ifndef COOPER_SYMBOL_OPS_ELEMWISE_SCALAR_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_SCALAR_PARAM_H_

// Parameters of the operators on an array and a number, such as _plus_scalar and _rpower_scalar
// (binary_scalar.cc), and of smooth_l1 (unary.cc). Python code `x + 2` becomes one of these nodes.
// MXNet: src/operator/tensor/elemwise_binary_scalar_op*.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// The output has data's shape and dtype. Operators with an r, such as _rdiv_scalar, take the number
// as the left operand. Integers wrap around on overflow, an integer divided by 0 gives 0, and a
// remainder has the sign of the divisor.
//
// Differences from MXNet: the dtype of data is kept, while MXNet converts integers to float64 if
// the number is no integer; that case and bool data fail with kInvalidArgument in type inference.
struct ScalarParam {
  // The number. Kernels round it to data's dtype first, so 0.1 is float16's 0.1 for a float16
  // array.
  double scalar = 1;
  // Whether the number is an integer, as MXNet's front end records it. If false, data must have a
  // floating dtype.
  bool is_int = true;

  static void Declare(ParamDeclaration<ScalarParam>& d) {
    d.Field("scalar", &ScalarParam::scalar).Doc("the number, rounded to the array's dtype");
    d.Field("is_int", &ScalarParam::is_int)
        .Doc("whether the scalar is an integer; else integers are refused");
  }
};

// Inputs of the gradients that need the data, such as that of _power_scalar. Other gradients apply
// a scalar operator to the head gradient.
struct ScalarGradientArrays {
  enum Input { kOgrad, kData };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_SCALAR_PARAM_H_
