#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_LAYERWISE_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_LAYERWISE_PARAM_H_

// Parameters of updates whose rate depends on the norms of the whole weight and of its gradient.

#include <cstdint>

#include "symbol/ops/optimizer/sgd_param.h"
#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of lamb_update_phase1; kWeight32 only in the mixed-precision variant.
struct LambPhase1Arrays {
  enum Input { kWeight, kGrad, kMean, kVar, kWeight32 };
};
// Inputs of lamb_update_phase2; kWeight32 only in the mixed-precision variant. kDirection is the
// direction of the step.
struct LambPhase2Arrays {
  enum Input { kWeight, kDirection, kWeightNorm, kDirectionNorm, kWeight32 };
};

// Parameters of lamb_update_phase1.
struct LambPhase1Param : UpdateParam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  int64_t t = 0;
  bool bias_correction = true;

  static void Declare(ParamDeclaration<LambPhase1Param>& d) { DeclareMoments(d); }

 protected:
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

// Parameters of lamb_update_phase2.
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

// Parameters of _lamb_update, which runs both phases.
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

// Parameters of _lbsgd_update and _lbsgd_sum_update.
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
