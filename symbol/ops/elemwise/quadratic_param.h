#ifndef COOPER_SYMBOL_OPS_ELEMWISE_QUADRATIC_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_QUADRATIC_PARAM_H_

// Parameters and arrays of _contrib_quadratic, the operator that docs/operators.md builds up as an
// example of a new operator: schema (quadratic.cc), kernels for both devices
// (executor/kernels/elemwise/quadratic.cc) and their tests. MXNet:
// src/operator/contrib/quadratic_op.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// The input of _contrib_quadratic. The output has its shape and dtype.
struct QuadraticArrays {
  enum Input { kData };
};
// The inputs of the gradient, which is ograd * (2 * a * data + b).
struct QuadraticGradientArrays {
  enum Input { kOgrad, kData };
};

// Parameters of _contrib_quadratic: a * data^2 + b * data + c.
struct QuadraticParam {
  double a = 0;
  double b = 0;
  double c = 0;

  static void Declare(ParamDeclaration<QuadraticParam>& d) {
    d.Field("a", &QuadraticParam::a).Doc("coefficient of data^2");
    d.Field("b", &QuadraticParam::b).Doc("coefficient of data");
    d.Field("c", &QuadraticParam::c).Doc("constant term");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_QUADRATIC_PARAM_H_
