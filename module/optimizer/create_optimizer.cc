#include "module/optimizer/create_optimizer.h"

#include <utility>

#include "module/optimizer/optimizer_registry.h"

namespace cooper {

std::vector<std::string> OptimizerNames() { return Optimizers().names(); }

absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view name, const Kwargs& kwargs, std::shared_ptr<LRScheduler> lr_scheduler) {
  return Optimizers().Create(name, kwargs, std::move(lr_scheduler));
}

}  // namespace cooper
