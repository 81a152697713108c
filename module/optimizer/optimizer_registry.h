#ifndef COOPER_MODULE_OPTIMIZER_OPTIMIZER_REGISTRY_H_
#define COOPER_MODULE_OPTIMIZER_OPTIMIZER_REGISTRY_H_

// The registry of the linked kinds of optimizers.

#include <memory>
#include <string>
#include <vector>

#include "module/kwargs/option_registry.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "module/optimizer/optimizer.h"

namespace cooper {

// Returns the registry, which lives as long as the process. Factories take the schedule besides the
// options, since keyword arguments are texts. The table has the targets of all kinds, so that an
// error can name the one to link.
inline OptionRegistry<Optimizer, std::shared_ptr<LRScheduler>>& Optimizers() {
  static auto* const optimizers = new OptionRegistry<Optimizer, std::shared_ptr<LRScheduler>>(
      "optimizer", KindTargets("@cooper//module/optimizer",
                               {{"adagrad", {"adadelta", "adagrad", "ftrl", "rmsprop"}},
                                {"adam", {"adam", "adamax", "ftml", "nadam"}},
                                {"layerwise", {"lamb", "lars", "lbsgd"}},
                                {"sgd", {"ccsgd", "dcasgd", "nag", "sgd", "sgld", "signum"}}}));
  return *optimizers;
}

// Registers a kind. `make` returns a std::unique_ptr<Optimizer>, or an absl::StatusOr of one if it
// refuses some options. declare(ParamDeclaration<Options>&) declares the options besides the common
// ones. Options has a member `common` of type OptimizerOptions. Returns true, for a static variable
// of the kind's source.
template <typename Options, typename Made, typename Declare>
bool RegisterOptimizer(const std::vector<std::string>& names, Made (*make)(const Options&),
                       const Declare& declare) {
  return Optimizers().Add<Options>(
      names,
      [make](Options& options, const std::shared_ptr<LRScheduler>& lr_scheduler) {
        options.common.lr_scheduler = lr_scheduler;
        return make(options);
      },
      [&declare](ParamDeclaration<Options>& d) {
        using Common = OptimizerOptions;
        d.Field("learning_rate", &Options::common, &Common::learning_rate);
        d.Field("wd", &Options::common, &Common::wd);
        d.Field("rescale_grad", &Options::common, &Common::rescale_grad);
        d.Field("clip_gradient", &Options::common, &Common::clip_gradient);
        // Saved states have counts of up to 2^53.
        d.Field("begin_num_update", &Options::common, &Common::begin_num_update).Min(0).Max(0x1p52);
        d.Field("multi_precision", &Options::common, &Common::multi_precision);
        declare(d);
      });
}

// MXNet's switch between dense and sparse updates; cooper ignores it, since all updates are dense.
inline constexpr char kLazyUpdate[] = "lazy_update";

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_OPTIMIZER_REGISTRY_H_
