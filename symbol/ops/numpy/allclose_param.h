#ifndef COOPER_SYMBOL_OPS_NUMPY_ALLCLOSE_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_ALLCLOSE_PARAM_H_

// Arrays and parameters of _contrib_allclose (allclose.cc). MXNet:
// src/operator/contrib/allclose_op-inl.h.

#include "symbol/schema/param_schema.h"

namespace cooper {

// a and b have one shape and dtype. The output is a scalar, uint8: 1 if |a - b| <= atol + rtol |b|
// for all elements, else 0. Equal infinities are close. Empty arrays are close. It has no gradient.
struct AllcloseArrays {
  enum Input { kA, kB };
};

// Tolerances are those of NumPy, except that NaNs are equal by default.
struct AllcloseParam {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = true;

  static void Declare(ParamDeclaration<AllcloseParam>& d) {
    d.Field("rtol", &AllcloseParam::rtol).Doc("relative tolerance");
    d.Field("atol", &AllcloseParam::atol).Doc("absolute tolerance");
    d.Field("equal_nan", &AllcloseParam::equal_nan).Doc("whether NaN is close to NaN");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_ALLCLOSE_PARAM_H_
