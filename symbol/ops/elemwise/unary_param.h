#ifndef COOPER_SYMBOL_OPS_ELEMWISE_UNARY_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_UNARY_PARAM_H_

// Parameters of the functions of one array that have any.

#include "symbol/schema/param_schema.h"

namespace cooper {

struct ClipParam {
  double a_min = 0;
  double a_max = 0;

  static void Declare(ParamDeclaration<ClipParam>& d) {
    d.Field("a_min", &ClipParam::a_min).Required().Doc("least value of the output");
    d.Field("a_max", &ClipParam::a_max).Required().Doc("greatest value of the output");
  }
};

struct HardSigmoidParam {
  double alpha = 0.2;
  double beta = 0.5;

  static void Declare(ParamDeclaration<HardSigmoidParam>& d) {
    d.Field("alpha", &HardSigmoidParam::alpha).Doc("slope of the middle part");
    d.Field("beta", &HardSigmoidParam::beta).Doc("value at 0");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_UNARY_PARAM_H_
