#include "examples/lion/lion.h"

#include "examples/lion/lion_param.h"
#include "module/optimizer/optimizer_registry.h"

namespace cooper {

std::unique_ptr<Optimizer> Lion(const LionOptions& options) {
  LionParam param;
  param.beta1 = options.beta1;
  param.beta2 = options.beta2;
  return OptimizerWith<LionParam>::Make(options.common, {"lion", "lion_update", {"m"}, 0.0001},
                                        param);
}

namespace {

const bool kRegistered = RegisterOptimizer<LionOptions>({"lion"}, Lion, [](auto& d) {
  d.Field("beta1", &LionOptions::beta1);
  d.Field("beta2", &LionOptions::beta2);
});

}  // namespace
}  // namespace cooper
