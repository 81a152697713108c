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
    RegisterOptimizer<AdaGradOptions>({"adagrad"}, AdaGrad,
                                      [](auto& d) {
                                        using Options = AdaGradOptions;
                                        d.Field("eps", &Options::eps);
                                      }),
    RegisterOptimizer<RmsPropOptions>({"rmsprop"}, RmsProp,
                                      [](auto& d) {
                                        using Options = RmsPropOptions;
                                        d.Field("gamma1", &Options::gamma1);
                                        d.Field("gamma2", &Options::gamma2);
                                        d.Field("epsilon", &Options::epsilon);
                                        d.Field("centered", &Options::centered);
                                        d.Field("clip_weights", &Options::clip_weights);
                                      }),
    RegisterOptimizer<AdaDeltaOptions>({"adadelta"}, AdaDelta,
                                       [](auto& d) {
                                         using Options = AdaDeltaOptions;
                                         d.Field("rho", &Options::rho);
                                         d.Field("epsilon", &Options::epsilon);
                                       }),
    RegisterOptimizer<FtrlOptions>({"ftrl"}, Ftrl,
                                   [](auto& d) {
                                     using Options = FtrlOptions;
                                     d.Field("lamda1", &Options::lamda1);
                                     d.Field("beta", &Options::beta);
                                   }),
};

}  // namespace
}  // namespace cooper
