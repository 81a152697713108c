#ifndef COOPER_SYMBOL_OPS_ELEMWISE_UNARY_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_UNARY_PARAM_H_

// Parameters of the functions of one array that have any: clip and hard_sigmoid. The schemas are in
// unary.cc with those of all other unary functions; smooth_l1 uses ScalarParam. The functions are
// in executor/kernels/elemwise/parametric_functions.h. MXNet: src/operator/tensor/matrix_op.cc
// (clip), elemwise_unary_op_basic.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of clip: min(max(x, a_min), a_max), element by element; NaN stays NaN. The gradient
// passes where a_min <= x <= a_max and is 0 elsewhere. For integer dtypes the bounds are truncated
// to integers and limited to the range of the dtype. a_min > a_max is not refused: elements above
// a_max then become a_max, all others a_min.
struct ClipParam {
  double a_min = 0;
  double a_max = 0;

  static void Declare(ParamDeclaration<ClipParam>& d) {
    d.Field("a_min", &ClipParam::a_min).Required().Doc("least value of the output");
    d.Field("a_max", &ClipParam::a_max).Required().Doc("greatest value of the output");
  }
};

// Parameters of hard_sigmoid: min(max(alpha * x + beta, 0), 1). The gradient is alpha * g where the
// result is strictly between 0 and 1, else 0.
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
