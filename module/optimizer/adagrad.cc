#include "module/optimizer/adagrad.h"

#include <string>

#include "module/optimizer/optimizer_registry.h"
#include "symbol/ops/optimizer/adagrad_param.h"

namespace cooper {

std::unique_ptr<Optimizer> AdaGrad(const AdaGradOptions& options) {
  AdaGradParam param;
  param.epsilon = options.eps;
  return OptimizerWith<AdaGradParam>::Make(
      options.common, {"adagrad", "_adagrad_update", {"history"}, 0.01}, param);
}

std::unique_ptr<Optimizer> RmsProp(const RmsPropOptions& options) {
  RmsPropAlexParam param;
  param.gamma1 = options.gamma1;
  param.gamma2 = options.gamma2;
  param.epsilon = options.epsilon;
  param.clip_weights = options.clip_weights.value_or(0) > 0 ? *options.clip_weights : -1;
  if (options.centered) {
    return OptimizerWith<RmsPropAlexParam>::Make(
        options.common, {"rmsprop", "rmspropalex_update", {"n", "g", "delta"}, 0.001}, param);
  }
  return OptimizerWith<RmsPropParam>::Make(options.common,
                                           {"rmsprop", "rmsprop_update", {"n"}, 0.001}, param);
}

std::unique_ptr<Optimizer> AdaDelta(const AdaDeltaOptions& options) {
  AdaDeltaParam param;
  param.rho = options.rho;
  param.epsilon = options.epsilon;
  return OptimizerWith<AdaDeltaParam>::Make(
      options.common, {"adadelta", "_adadelta_update", {"acc_grad", "acc_delta"}, 0.01}, param);
}

std::unique_ptr<Optimizer> Ftrl(const FtrlOptions& options) {
  FtrlParam param;
  param.lamda1 = options.lamda1;
  param.beta = options.beta;
  return OptimizerWith<FtrlParam>::Make(options.common, {"ftrl", "ftrl_update", {"z", "n"}, 0.1},
                                        param);
}

namespace {

const bool kRegistered[] = {
    RegisterOptimizer({"adagrad"}, AdaGrad, [](auto& d) { d.Field("eps", &AdaGradOptions::eps); }),
    RegisterOptimizer({"rmsprop"}, RmsProp,
                      [](auto& d) {
                        d.Field("gamma1", &RmsPropOptions::gamma1);
                        d.Field("gamma2", &RmsPropOptions::gamma2);
                        d.Field("epsilon", &RmsPropOptions::epsilon);
                        d.Field("centered", &RmsPropOptions::centered);
                        d.Field("clip_weights", &RmsPropOptions::clip_weights);
                      }),
    RegisterOptimizer({"adadelta"}, AdaDelta,
                      [](auto& d) {
                        d.Field("rho", &AdaDeltaOptions::rho);
                        d.Field("epsilon", &AdaDeltaOptions::epsilon);
                      }),
    RegisterOptimizer({"ftrl"}, Ftrl,
                      [](auto& d) {
                        d.Field("lamda1", &FtrlOptions::lamda1);
                        d.Field("beta", &FtrlOptions::beta);
                      }),
};

}  // namespace
}  // namespace cooper
