#ifndef COOPER_SYMBOL_OPS_ELEMWISE_ACTIVATION_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_ACTIVATION_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

enum class ActivationType { kRelu, kSigmoid, kTanh, kSoftRelu, kSoftSign };

struct ActivationParam {
  ActivationType act_type = ActivationType::kRelu;

  static void Declare(ParamDeclaration<ActivationParam>& d) {
    d.Enum("act_type", &ActivationParam::act_type,
           {{"relu", ActivationType::kRelu},
            {"sigmoid", ActivationType::kSigmoid},
            {"softrelu", ActivationType::kSoftRelu},
            {"softsign", ActivationType::kSoftSign},
            {"tanh", ActivationType::kTanh}})
        .Required()
        .Doc("the function");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_ACTIVATION_PARAM_H_
