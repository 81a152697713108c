#ifndef COOPER_SYMBOL_OPS_ELEMWISE_ACTIVATION_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_ACTIVATION_PARAM_H_

// Parameters of Activation, an elementwise function selected by an attribute. The schema is in
// activation.cc; the functions are in executor/kernels/elemwise/activation_functions.h. LeakyReLU
// (symbol/ops/nn) has the functions with a slope for negative elements, unary.cc the same functions
// as operators of their own. MXNet: src/operator/nn/activation.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// With x an element of data, y of the output and g of the head gradient:
//
//   relu      max(x, 0)         gradient g where y > 0, else 0
//   sigmoid   1 / (1 + exp(-x))          g * y * (1 - y)
//   tanh      tanh(x)                    g * (1 - y^2)
//   softrelu  log(1 + exp(x))            g * (1 - exp(-y)); above 20 y is x
//   softsign  x / (1 + |x|)              g / (1 + |x|)^2
//
// NaN propagates through relu and its gradient.
enum class ActivationType { kRelu, kSigmoid, kTanh, kSoftRelu, kSoftSign };

// Parameters of Activation. The output has data's shape and dtype and may overwrite data. All
// gradients are functions of the output, except softsign's, so data need not be kept.
struct ActivationParam {
  // The function; required, so the initial value has no meaning.
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
