#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_LAYERWISE_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_LAYERWISE_PARAM_H_

// Arrays and parameters of updates whose rate depends on the norms of the whole weight and of its
// gradient: LAMB, LARS and LBSGD. layerwise.cc declares the operators; executor/kernels/optimizer
// has their rates in layerwise_functions.h. Norms are Euclidean. These operators are not
// elementwise: each first reduces whole arrays. g is clip(rescale_grad * grad), as in
// update_param.h.

#include <cstdint>

#include "symbol/ops/optimizer/adam_param.h"
#include "symbol/ops/optimizer/sgd_param.h"
#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of lamb_update_phase1; kWeight32 only in the mixed-precision variant. kMean and kVar are
// written. The output is the direction of the step, float32 in the mixed-precision variant; the
// weight does not change.
struct LambPhase1Arrays {
  enum Input { kWeight, kGrad, kMean, kVar, kWeight32 };
};
// Inputs of lamb_update_phase2; kWeight32 only in the mixed-precision variant, where it is written
// too. kDirection is the direction of the step, the output of the first phase; the norms of the
// weight and of the direction are arrays (1,). The output is the new weight, which may overwrite
// the old one.
struct LambPhase2Arrays {
  enum Input { kWeight, kDirection, kWeightNorm, kDirectionNorm, kWeight32 };
};

// Parameters of lamb_update_phase1 (You et al., Large Batch Optimization for Deep Learning, 2020):
//
//   mean = beta1 * mean + (1 - beta1) * g;  var = beta2 * var + (1 - beta2) * g^2
//   output = mean' / (sqrt(var') + epsilon) + wd * weight
//
// With bias_correction mean' is mean / (1 - beta1^t) and var' is var / (1 - beta2^t); without it
// they are mean and var. t counts updates from 1 on.
struct LambPhase1Param : UpdateParam {
  double beta1 = AdamParam::kBeta1;
  double beta2 = AdamParam::kBeta2;
  double epsilon = 1e-6;
  int64_t t = 0;
  bool bias_correction = true;

  static void Declare(ParamDeclaration<LambPhase1Param>& d) { DeclareMoments(d); }

 protected:
  // Declares the fields for a derived struct P.
  template <typename P>
  static void DeclareMoments(ParamDeclaration<P>& d) {
    DeclareGradient(d);
    d.Field("beta1", &P::beta1).Doc("decay rate of mean");
    d.Field("beta2", &P::beta2).Doc("decay rate of var");
    d.Field("epsilon", &P::epsilon).Doc("added to the root of var");
    d.Field("t", &P::t).Required().Doc("number of this update, from 1 on");
    d.Field("bias_correction", &P::bias_correction)
        .Doc("whether mean and var are divided by what they are short of at t");
  }
};

// Parameters of lamb_update_phase2: weight -= lr * r1 / r2 * direction, with r1 the norm of the
// weight, limited to the bounds, and r2 the norm of the direction; the factor is lr if either is 0.
struct LambPhase2Param {
  double lr = 0;
  double lower_bound = -1;
  double upper_bound = -1;

  static void Declare(ParamDeclaration<LambPhase2Param>& d) {
    d.Field("lr", &LambPhase2Param::lr).Required().Doc("learning rate");
    d.Field("lower_bound", &LambPhase2Param::lower_bound)
        .Doc("least norm of the weight that counts; negative: none");
    d.Field("upper_bound", &LambPhase2Param::upper_bound)
        .Doc("greatest norm of the weight that counts; negative: none");
  }
};

// Parameters of _lamb_update, which runs both phases on one weight and computes the norms itself.
// MXNet composes them in Python with a temporary array of the weight's size.
struct LambParam : LambPhase1Param {
  double lower_bound = -1;
  double upper_bound = -1;

  static void Declare(ParamDeclaration<LambParam>& d) {
    DeclareMoments(d);
    d.Field("lr", &LambParam::lr).Required().Doc("learning rate");
    d.Field("lower_bound", &LambParam::lower_bound)
        .Doc("least norm of the weight that counts; negative: none");
    d.Field("upper_bound", &LambParam::upper_bound)
        .Doc("greatest norm of the weight that counts; negative: none");
  }
};

// Parameters of _lars_update and _lars_mom_update (You et al., Large Batch Training of
// Convolutional Networks, 2017): sgd_mom_update, with momentum 0 without a state, at the rate
//
//   lr * eta * |weight| / (rescale_grad * |grad| + wd * |weight| + epsilon)
//
// or at lr if layerwise is false or a norm is 0.
struct LarsParam : MomentumParam {
  double eta = 0.001;
  double epsilon = 0;
  bool layerwise = true;

  static void Declare(ParamDeclaration<LarsParam>& d) {
    DeclareMomentum(d);
    d.Field("eta", &LarsParam::eta).Doc("factor of the rate");
    d.Field("epsilon", &LarsParam::epsilon).Doc("added to the norms that the rate is divided by");
    d.Field("layerwise", &LarsParam::layerwise).Doc("whether the rate depends on the norms");
  }
};

// Parameters of _lbsgd_update and _lbsgd_sum_update (MXNet's LBSGD, large-batch SGD):
// sgd_mom_update with the mean of batch_scale gradients. The second operator adds each gradient to
// the state cum_grad and changes the weight only if `apply` is set. With adaptive, lr is multiplied
// by
//
//   sqrt(|weight|^2 / (|mean|^2 + wd * |weight|^2)), limited to [0.01, 100]
struct LbsgdParam : MomentumParam {
  int64_t batch_scale = 1;
  bool apply = true;
  bool adaptive = false;

  static void Declare(ParamDeclaration<LbsgdParam>& d) {
    DeclareMomentum(d);
    d.Field("batch_scale", &LbsgdParam::batch_scale)
        .Min(1)
        .Doc("number of gradients whose mean makes a step");
    d.Field("apply", &LbsgdParam::apply).Doc("whether this gradient completes a step");
    d.Field("adaptive", &LbsgdParam::adaptive)
        .Doc("whether lr is multiplied by what follows from the norms");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_LAYERWISE_PARAM_H_
