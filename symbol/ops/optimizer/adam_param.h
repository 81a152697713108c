#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_ADAM_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_ADAM_PARAM_H_

// Parameters of Adam's update and its variants.

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// beta1 and beta2 are the decay rates of the means of the gradients and of their squares. They are
// float32 as in MXNet, which affects 1 - beta2 for float64 weights.
struct AdamParam : UpdateParam {
  float beta1 = 0.9f;
  float beta2 = 0.999f;
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

// rescale_grad is an input of this update.
struct AdamWParam : UpdateParam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
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

struct AdamaxParam : UpdateParam {
  double beta1 = 0.9;
  double beta2 = 0.999;

  static void Declare(ParamDeclaration<AdamaxParam>& d) {
    DeclareUpdate(d);
    d.Field("beta1", &AdamaxParam::beta1).Doc("decay rate of mean");
    d.Field("beta2", &AdamaxParam::beta2).Doc("decay rate of var");
  }
};

// The factors follow from the schedule of the momentum.
struct NadamParam : UpdateParam {
  double beta1 = 0.9;
  double beta2 = 0.999;
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

struct FtmlParam : UpdateParam {
  double beta1 = 0.6;
  double beta2 = 0.999;
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
