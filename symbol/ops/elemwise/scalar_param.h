#ifndef COOPER_SYMBOL_OPS_ELEMWISE_SCALAR_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_SCALAR_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of operators between an array and a number, such as _plus_scalar.
struct ScalarParam {
  double scalar = 1;
  bool is_int = true;

  static void Declare(ParamDeclaration<ScalarParam>& d) {
    d.Field("scalar", &ScalarParam::scalar).Doc("the number, rounded to the array's dtype");
    d.Field("is_int", &ScalarParam::is_int)
        .Doc("whether the scalar is an integer; else integers are refused");
  }
};

// Inputs of the gradients of these operators that need the data.
struct ScalarGradientArrays {
  enum Input { kOgrad, kData };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_SCALAR_PARAM_H_
