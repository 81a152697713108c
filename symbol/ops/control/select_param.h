#ifndef COOPER_SYMBOL_OPS_CONTROL_SELECT_PARAM_H_
#define COOPER_SYMBOL_OPS_CONTROL_SELECT_PARAM_H_

// Parameters and inputs of the operators to which executors lower _cond and _while_loop. The
// schemas are in select.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// _select is on_true if the condition is true, else on_false: arrays of one shape and dtype. The
// condition is one bool, (1,). What was not chosen gets a gradient of zeros, also where it is NaN.
struct SelectArrays {
  enum Input { kCondition, kOnTrue, kOnFalse };
};
// _guard is the data, in its own memory; its gradient is zeros unless the condition is as expected.
// _keep_if is the data if the condition is as expected, else zeros.
struct GuardArrays {
  enum Input { kData, kCondition };
};

// The parameter of _guard and _keep_if.
struct GuardParam {
  bool expected = true;

  static void Declare(ParamDeclaration<GuardParam>& d) {
    d.Field("expected", &GuardParam::expected)
        .Doc("the value of the condition for which the data is used");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_CONTROL_SELECT_PARAM_H_
