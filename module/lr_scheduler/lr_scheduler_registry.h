#ifndef COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_REGISTRY_H_
#define COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_REGISTRY_H_

// The registry of the linked kinds of schedules.

#include "module/kwargs/option_registry.h"
#include "module/lr_scheduler/lr_scheduler.h"

namespace cooper {

// Returns the registry, which lives as long as the process. Kinds are "factor", "multifactor",
// "poly" and "cosine", as far as they are linked.
inline OptionRegistry<LRScheduler>& LRSchedulers() {
  static auto* const schedulers = new OptionRegistry<LRScheduler>("lr_scheduler");
  return *schedulers;
}

// Declares the options that all kinds have. Options is a struct with a member `common` of type
// LRSchedulerOptions. Call it last, so that the own options come first in messages.
template <typename Options>
void DeclareCommon(ParamDeclaration<Options>& d) {
  using Common = LRSchedulerOptions;
  d.Field("base_lr", &Options::common, &Common::base_lr);
  d.Field("warmup_steps", &Options::common, &Common::warmup_steps);
  d.Field("warmup_begin_lr", &Options::common, &Common::warmup_begin_lr);
  d.Enum("warmup_mode", &Options::common, &Common::warmup_mode,
         {{"linear", WarmupMode::kLinear}, {"constant", WarmupMode::kConstant}});
}

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_REGISTRY_H_
