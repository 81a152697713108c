#ifndef COOPER_SYMBOL_OPS_CONTROL_SELECT_PARAM_H_
#define COOPER_SYMBOL_OPS_CONTROL_SELECT_PARAM_H_

// Parameters and inputs of the operators to which executors lower _cond and _while_loop. The
// schemas are in select.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

struct SelectArrays {
  enum Input { kCondition, kOnTrue, kOnFalse };
};
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
