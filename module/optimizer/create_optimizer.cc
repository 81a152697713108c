#include "module/optimizer/create_optimizer.h"

#include <utility>

#include "module/optimizer/optimizer_registry.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

std::vector<std::string> OptimizerNames() { return Optimizers().names(); }

absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view name, const Kwargs& kwargs, std::shared_ptr<LRScheduler> lr_scheduler) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                          Optimizers().Create(name, kwargs, std::move(lr_scheduler)));
  COOPER_RETURN_IF_ERROR(optimizer->CheckLearningRate());
  return optimizer;
}

}  // namespace cooper
