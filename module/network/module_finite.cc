// Checks the losses, gradients and parameters of a Module for NaN and infinity, and rolls a batch
// back.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/run/after_backward.h"
#include "module/network/module.h"
#include "module/parameters/finite.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// Larger losses are those of classifiers, such as the probabilities of all words. A wrong element
// of them shows in the gradients, which have fewer elements.
constexpr int64_t kMaxLossElements = 65536;

// AfterBackward's, of the one check that a module has: no optimizer has such a name
// (Optimizer::NameOfPrepared).
constexpr int64_t kNameOfCheck = int64_t{1} << 61;

absl::Status NotFinite(absl::string_view what, absl::string_view name) {
  return absl::OutOfRangeError(
      absl::StrCat(what, " '", name, "' has elements that are not finite"));
}

bool IsLoss(const NodeEntry& output) {
  const Node& node = *output.node;
  return !node.is_variable() && node.op()->IgnoresHeadGradient(node.call());
}

}  // namespace

absl::Status Module::SaveForRollback() { return group_->parameters().KeepAuxs(); }

absl::Status Module::RollbackBatch() {
  COOPER_RETURN_IF_ERROR(group_->parameters().RestoreAuxs());
  return accumulated_names_.empty() ? absl::OkStatus() : ZeroGrads();
}

// Rows whose label is ignored have no probability.
bool Module::IsCheckedLoss(size_t k, const NDArray& output) const {
  return !options_.compute.label_probabilities && output.size() <= kMaxLossElements &&
         IsLoss(symbol_.outputs()[k]);
}

absl::Status Module::CheckFinite() {
  const ScopedProfile profile(ProfileCategory::kStep, "check finite");
  for (int i = 0; i < executor_group()->num_executors(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs,
                            executor_group()->executor(i).outputs());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!IsCheckedLoss(k, outputs[k])) continue;
      COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(outputs[k]));
      if (!finite) return NotFinite("the loss", OutputName(symbol_.outputs()[k]));
    }
  }
  COOPER_ASSIGN_OR_RETURN(const std::string grad,
                          group_->parameters().FindNonFiniteGrad(executor()->grad_names()));
  return grad.empty() ? absl::OkStatus() : NotFinite("the gradient of", grad);
}

absl::Status Module::ForwardBackwardChecked() {
  // A check behind the passes needs the executor's own queue, and something to check.
  bool joins = is_on_one_gpu() && options_.compute.group2ctxs.empty() && !monitor_ &&
               !executor()->grad_names().empty();
  if (joins && !finite_check_.has_value()) {
    auto made = FiniteCheck::Create(options_.compute.contexts[0]);
    joins = made.ok();
    if (joins) finite_check_ = *std::move(made);
  }
  if (!joins) {
    COOPER_RETURN_IF_ERROR(ForwardBackwardFed());
    return CheckFinite();
  }
  const auto enqueue = [this](DeviceQueue* queue) -> absl::Status {
    std::vector<NDArray> arrays;
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, executor()->outputs());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (IsCheckedLoss(k, outputs[k])) arrays.push_back(outputs[k]);
    }
    for (const std::string& name : executor()->grad_names()) {
      arrays.push_back(group_->parameters().Grad(name));
    }
    return finite_check_->EnqueueFn(arrays, queue);
  };
  const AfterBackward check = {.enqueue = enqueue, .name = kNameOfCheck};
  COOPER_RETURN_IF_ERROR(ForwardBackwardFed(&check));
  COOPER_ASSIGN_OR_RETURN(const bool finite, finite_check_->AllFinite());
  return finite ? absl::OkStatus() : CheckFinite();
}

absl::Status Module::CheckParamsFinite() const {
  COOPER_ASSIGN_OR_RETURN(const std::string name, group_->parameters().FindNonFiniteValue());
  return name.empty() ? absl::OkStatus() : NotFinite("the parameter", name);
}

}  // namespace cooper
