#ifndef COOPER_EXAMPLES_LION_LION_PARAM_H_
#define COOPER_EXAMPLES_LION_LION_PARAM_H_

// The parameters of lion_update.

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct LionParam : UpdateParam {
  double beta1 = 0.9;
  double beta2 = 0.99;

  static void Declare(ParamDeclaration<LionParam>& d) {
    DeclareUpdate(d);
    d.Field("beta1", &LionParam::beta1).Min(0).Max(1).Doc("share of m in the direction");
    d.Field("beta2", &LionParam::beta2).Min(0).Max(1).Doc("share of m that stays");
  }
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_LION_LION_PARAM_H_
