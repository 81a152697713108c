#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_ADAM_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_ADAM_PARAM_H_

// Parameters of Adam's update and its variants. adam.cc declares the operators with their formulas;
// executor/kernels/optimizer/adam_functions.h has the functions of one element. In the formulas h
// is clip(rescale_grad * grad + wd * weight), g is clip(rescale_grad * grad); update_param.h
// describes both. MXNet: src/operator/optimizer_op.cc, contrib/adamw.cc.

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of adam_update (Kingma and Ba, Adam, 2015), states mean and var:
//
//   mean = beta1 * mean + (1 - beta1) * h;  var = beta2 * var + (1 - beta2) * h^2
//   weight -= lr * mean / (sqrt(var) + epsilon)
//
// The correction of the bias is not in the update: the optimizer puts it into lr. beta1 and beta2
// are float32 as in MXNet, which affects 1 - beta2 for float64 weights. lazy_update has no effect.
struct AdamParam : UpdateParam {
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999;  // the defaults
  float beta1 = static_cast<float>(kBeta1);
  float beta2 = static_cast<float>(kBeta2);
  double epsilon = 1e-8;
  bool lazy_update = true;

  static void Declare(ParamDeclaration<AdamParam>& d) {
    DeclareUpdate(d);
    d.Field("beta1", &AdamParam::beta1).Doc("decay rate of mean");
    d.Field("beta2", &AdamParam::beta2).Doc("decay rate of var");
    d.Field("epsilon", &AdamParam::epsilon).Doc("added to the root of var");
    d.Field("lazy_update", &AdamParam::lazy_update).Doc("has no effect");
  }
};

// Parameters of _adamw_update and _mp_adamw_update (Loshchilov and Hutter, Decoupled Weight Decay
// Regularization, 2019). mean and var are updated as in adam_update, but with g; then
//
//   weight -= eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)
//
// rescale_grad is an input of this update, an array of one element: it follows from all gradients.
// If it is 0 or not finite, nothing changes; training with a loss scale skips a step in this way.
struct AdamWParam : UpdateParam {
  double beta1 = AdamParam::kBeta1;
  double beta2 = AdamParam::kBeta2;
  double epsilon = 1e-8;
  // Factor of both the learning rate and the weight decay, from a schedule.
  double eta = 1;

  static void Declare(ParamDeclaration<AdamWParam>& d) {
    d.Field("lr", &AdamWParam::lr).Required().Doc("learning rate");
    d.Field("beta1", &AdamWParam::beta1).Doc("decay rate of mean");
    d.Field("beta2", &AdamWParam::beta2).Doc("decay rate of var");
    d.Field("epsilon", &AdamWParam::epsilon).Doc("added to the root of var");
    d.Field("wd", &AdamWParam::wd).Doc("weight decay, apart from the gradient");
    d.Field("eta", &AdamWParam::eta).Required().Doc("factor of rate and decay");
    d.Field("clip_gradient", &AdamWParam::clip_gradient)
        .Doc("limit of the rescaled gradient; negative: none");
  }
};

// Parameters of _adamax_update: mean as in adam_update, var = max(beta2 * var, |h|), weight -= lr *
// mean / var where mean is not 0, so that a gradient of 0 from the beginning does not give NaN. The
// correction of the bias is in lr.
struct AdamaxParam : UpdateParam {
  double beta1 = AdamParam::kBeta1;
  double beta2 = AdamParam::kBeta2;

  static void Declare(ParamDeclaration<AdamaxParam>& d) {
    DeclareUpdate(d);
    d.Field("beta1", &AdamaxParam::beta1).Doc("decay rate of mean");
    d.Field("beta2", &AdamaxParam::beta2).Doc("decay rate of var");
  }
};

// Parameters of _nadam_update (Dozat, Incorporating Nesterov Momentum into Adam, 2016). mean and
// var as in adam_update;
//
//   weight -= lr * (grad_factor * h + mean_factor * mean) / (sqrt(var_factor * var) + epsilon)
//
// The factors follow from the schedule of the momentum, which the optimizer computes.
struct NadamParam : UpdateParam {
  double beta1 = AdamParam::kBeta1;
  double beta2 = AdamParam::kBeta2;
  double epsilon = 1e-8;
  double grad_factor = 0;
  double mean_factor = 1;
  double var_factor = 1;

  static void Declare(ParamDeclaration<NadamParam>& d) {
    DeclareUpdate(d);
    d.Field("beta1", &NadamParam::beta1).Doc("decay rate of mean");
    d.Field("beta2", &NadamParam::beta2).Doc("decay rate of var");
    d.Field("epsilon", &NadamParam::epsilon).Doc("added to the root of var");
    d.Field("grad_factor", &NadamParam::grad_factor).Doc("of the gradient in the step");
    d.Field("mean_factor", &NadamParam::mean_factor).Doc("of mean in the step");
    d.Field("var_factor", &NadamParam::var_factor).Doc("of var in the step");
  }
};

// Parameters of ftml_update (Zheng and Kwok, Follow the Moving Leader in Deep Learning, 2017),
// states d, v and z. The gradient's limit is called clip_grad here. t counts updates from 1 on; the
// corrections of the bias follow from it.
//
//   v = beta2 * v + (1 - beta2) * h^2
//   d' = (1 - beta1^t) / lr * (sqrt(v / (1 - beta2^t)) + epsilon)
//   z = beta1 * z + (1 - beta1) * h - (d' - beta1 * d) * weight;  d = d';  weight = -z / d
struct FtmlParam : UpdateParam {
  double beta1 = 0.6;
  double beta2 = AdamParam::kBeta2;
  double epsilon = 1e-8;
  int64_t t = 0;

  static void Declare(ParamDeclaration<FtmlParam>& d) {
    DeclareUpdate(d, "clip_grad");
    d.Field("beta1", &FtmlParam::beta1).Doc("decay rate of z");
    d.Field("beta2", &FtmlParam::beta2).Doc("decay rate of v");
    d.Field("epsilon", &FtmlParam::epsilon).Doc("added to the root of v");
    d.Field("t", &FtmlParam::t).Required().Doc("number of this update, from 1 on");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_ADAM_PARAM_H_
