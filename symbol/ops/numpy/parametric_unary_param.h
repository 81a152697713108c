#ifndef COOPER_SYMBOL_OPS_NUMPY_PARAMETRIC_UNARY_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_PARAMETRIC_UNARY_PARAM_H_

// Parameters of _npi_around and _npi_nan_to_num (parametric_unary.cc). MXNet:
// src/operator/tensor/elemwise_unary_op.h.

#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Rounds to `decimals` digits behind the point, or before it if negative; halves to the even digit.
// decimals is limited so that 10^|decimals| is a finite double.
struct AroundParam {
  int decimals = 0;

  static void Declare(ParamDeclaration<AroundParam>& d) {
    d.Field("decimals", &AroundParam::decimals)
        .Min(-300)
        .Max(300)
        .Doc("digits behind the point, before it if negative");
  }
};

// Replaces NaN and infinities by numbers, infinities by default by the limits of the dtype. The
// gradient of what is replaced is 0. The output may overwrite the data.
struct NanToNumArrays {
  enum Input { kData };
};
struct NanToNumGradientArrays {
  enum Input { kOgrad, kData };
};
// posinf and neginf are None for the greatest and the least finite number of the data's dtype.
struct NanToNumParam {
  bool copy = true;
  double nan = 0;
  std::optional<double> posinf, neginf;

  static void Declare(ParamDeclaration<NanToNumParam>& d) {
    d.Field("copy", &NanToNumParam::copy).Doc("has no effect");
    d.Field("nan", &NanToNumParam::nan).Doc("number for NaN");
    d.Field("posinf", &NanToNumParam::posinf).Doc("number for infinity; None: the greatest one");
    d.Field("neginf", &NanToNumParam::neginf).Doc("number for -infinity; None: the least one");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_PARAMETRIC_UNARY_PARAM_H_
