#include "module/optimizer/create_optimizer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/optimizer/optimizer_registry.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// The target that registers an optimizer of MXNet's; empty for another name.
absl::string_view TargetOf(absl::string_view name) {
  constexpr std::pair<absl::string_view, absl::string_view> kTargets[] = {
      {"adadelta", "adagrad"}, {"adagrad", "adagrad"}, {"ftrl", "adagrad"},
      {"rmsprop", "adagrad"},  {"adam", "adam"},       {"adamax", "adam"},
      {"ftml", "adam"},        {"nadam", "adam"},      {"lamb", "layerwise"},
      {"lars", "layerwise"},   {"lbsgd", "layerwise"}, {"ccsgd", "sgd"},
      {"dcasgd", "sgd"},       {"nag", "sgd"},         {"sgd", "sgd"},
      {"sgld", "sgd"},         {"signum", "sgd"}};
  for (const auto& [optimizer, target] : kTargets) {
    if (absl::EqualsIgnoreCase(name, optimizer)) return target;
  }
  return "";
}

}  // namespace

std::vector<std::string> OptimizerNames() { return Optimizers().names(); }

absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view name, const Kwargs& kwargs, std::shared_ptr<LRScheduler> lr_scheduler) {
  auto created = Optimizers().Create(name, kwargs, std::move(lr_scheduler));
  if (absl::IsNotFound(created.status()) && !TargetOf(name).empty()) {
    return absl::NotFoundError(absl::StrCat("optimizer '", name,
                                            "' is not linked: its target is @cooper//module/"
                                            "optimizer:",
                                            TargetOf(name)));
  }
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer, std::move(created));
  COOPER_RETURN_IF_ERROR(optimizer->CheckLearningRate());
  return optimizer;
}

}  // namespace cooper
