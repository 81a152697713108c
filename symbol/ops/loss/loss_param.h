#ifndef COOPER_SYMBOL_OPS_LOSS_LOSS_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_LOSS_PARAM_H_

// Parameters of the smaller losses.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of the smaller losses; the gradients read the label and the output.
struct LossArrays {
  enum Input { kData, kLabel };
};
struct LossGradientArrays {
  enum Input { kLabel, kOutput };
};
struct SoftmaxCrossEntropyGradientArrays {
  enum Input { kOgrad, kData, kLabel };
};

// LinearRegressionOutput, LogisticRegressionOutput, MAERegressionOutput.
struct RegressionOutputParam {
  double grad_scale = 1.0;

  static void Declare(ParamDeclaration<RegressionOutputParam>& d) {
    d.Field("grad_scale", &RegressionOutputParam::grad_scale).Doc("factor of the gradient");
  }
};

// Parameters of SVMOutput.
struct SvmOutputParam {
  double margin = 1.0;
  double regularization_coefficient = 1.0;
  bool use_linear = false;

  static void Declare(ParamDeclaration<SvmOutputParam>& d) {
    d.Field("margin", &SvmOutputParam::margin).Doc("scores beyond it have no gradient");
    d.Field("regularization_coefficient", &SvmOutputParam::regularization_coefficient)
        .Doc("factor of the gradient");
    d.Field("use_linear", &SvmOutputParam::use_linear)
        .Doc("whether the loss is the distance to the margin, not its square");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_LOSS_PARAM_H_
