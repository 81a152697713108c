#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_ADAGRAD_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_ADAGRAD_PARAM_H_

// Parameters of updates that divide the gradient by the root of its accumulated squares. adagrad.cc
// declares the operators with their formulas; executor/kernels/optimizer/adagrad_functions.h has
// the functions of one element. In the formulas g and clip are those of update_param.h, and h is
// clip(rescale_grad * grad + wd * weight): RMSProp decays the weight through the gradient, the
// other updates by a term of their own.

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _adagrad_update (Duchi et al., 2011):
//
//   history += g^2;  weight -= lr * (g / sqrt(history + epsilon) + wd * weight)
//
// With epsilon 0, a gradient of 0 on a history of 0 gives NaN.
struct AdaGradParam : UpdateParam {
  double epsilon = 1e-7;

  static void Declare(ParamDeclaration<AdaGradParam>& d) {
    DeclareUpdate(d);
    d.Field("epsilon", &AdaGradParam::epsilon).Doc("added under the root");
  }
};

// Parameters of rmsprop_update (Tieleman and Hinton, 2012), state n:
//
//   n = gamma1 * n + (1 - gamma1) * h^2;  weight -= lr * h / sqrt(n + epsilon)
//
// The weight is then limited to [-clip_weights, clip_weights], unless clip_weights is negative.
struct RmsPropParam : UpdateParam {
  double gamma1 = 0.95;
  double epsilon = 1e-8;
  double clip_weights = -1;

  static void Declare(ParamDeclaration<RmsPropParam>& d) { DeclareRmsProp(d); }

 protected:
  // Declares the fields for a derived struct P.
  template <typename P>
  static void DeclareRmsProp(ParamDeclaration<P>& d) {
    DeclareUpdate(d);
    d.Field("gamma1", &P::gamma1).Doc("decay rate of n and g");
    d.Field("epsilon", &P::epsilon).Doc("added under the root");
    d.Field("clip_weights", &P::clip_weights).Doc("limit of the weights; negative: none");
  }
};

// Parameters of rmspropalex_update (Graves, Generating Sequences With Recurrent Neural Networks,
// 2013), states n, g and delta. g is here a moving mean of the gradients:
//
//   g = gamma1 * g + (1 - gamma1) * h;  delta = gamma2 * delta - lr * h / sqrt(n - g^2 + epsilon)
//   weight += delta, limited to clip_weights
struct RmsPropAlexParam : RmsPropParam {
  double gamma2 = 0.9;

  static void Declare(ParamDeclaration<RmsPropAlexParam>& d) {
    DeclareRmsProp(d);
    d.Field("gamma2", &RmsPropAlexParam::gamma2).Doc("factor of delta in each update");
  }
};

// Parameters of _adadelta_update (Zeiler, ADADELTA, 2012), which has no learning rate. x is the
// step:
//
//   acc_grad = rho * acc_grad + (1 - rho) * g^2
//   x = sqrt(acc_delta + epsilon) / sqrt(acc_grad + epsilon) * g
//   acc_delta = rho * acc_delta + (1 - rho) * x^2;  weight -= x + wd * weight
struct AdaDeltaParam : UpdateParam {
  double rho = 0.9;
  double epsilon = 1e-5;

  static void Declare(ParamDeclaration<AdaDeltaParam>& d) {
    DeclareGradient(d);
    d.Field("rho", &AdaDeltaParam::rho).Doc("decay rate of both states");
    d.Field("epsilon", &AdaDeltaParam::epsilon).Doc("added under the roots");
  }
};

// Parameters of ftrl_update (McMahan et al., Ad Click Prediction, 2013), states z and n, with L1
// regularization lamda1, MXNet's spelling, which makes weights exactly 0:
//
//   z += g - (sqrt(n + g^2) - sqrt(n)) * weight / lr;  n += g^2
//   weight = 0 where |z| <= lamda1, else (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd)
struct FtrlParam : UpdateParam {
  double lamda1 = 0.01;
  double beta = 1;

  static void Declare(ParamDeclaration<FtrlParam>& d) {
    DeclareUpdate(d);
    d.Field("lamda1", &FtrlParam::lamda1).Doc("below it z makes the weight 0");
    d.Field("beta", &FtrlParam::beta).Doc("added to the root of n");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_ADAGRAD_PARAM_H_
