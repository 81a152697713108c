// Checks the losses, gradients and parameters of a Module for NaN and infinity, and rolls a batch
// back.

#include "absl/strings/str_cat.h"
#include "module/network/module.h"
#include "module/parameters/finite.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// Larger losses are those of classifiers, such as the probabilities of all words. A wrong element
// of them shows in the gradients, which have fewer elements.
constexpr int64_t kMaxLossElements = 65536;

absl::Status NotFinite(absl::string_view what, absl::string_view name) {
  return absl::OutOfRangeError(
      absl::StrCat(what, " '", name, "' has elements that are not finite"));
}

bool IsLoss(const NodeEntry& output) {
  const Node& node = *output.node;
  return !node.is_variable() && node.op()->IgnoresHeadGradient(node.call());
}

}  // namespace

absl::Status Module::PrepareToTakeBack() { return group_->parameters().KeepAuxs(); }

absl::Status Module::TakeBackBatch() {
  COOPER_RETURN_IF_ERROR(group_->parameters().RestoreAuxs());
  return added_names_.empty() ? absl::OkStatus() : ZeroGrads();
}

absl::Status Module::CheckFinite() {
  const ScopedProfile profile(ProfileCategory::kStep, "check finite");
  // With label_probabilities, rows with an ignored label have no probability.
  if (!options_.label_probabilities) {
    for (int i = 0; i < executor_group()->num_executors(); ++i) {
      COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs,
                              executor_group()->executor(i).outputs());
      for (size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k].size() > kMaxLossElements || !IsLoss(symbol_.outputs()[k])) continue;
        COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(outputs[k]));
        if (!finite) return NotFinite("the loss", OutputName(symbol_.outputs()[k]));
      }
    }
  }
  COOPER_ASSIGN_OR_RETURN(const std::string grad,
                          group_->parameters().FindNonFiniteGrad(executor()->grad_names()));
  return grad.empty() ? absl::OkStatus() : NotFinite("the gradient of", grad);
}

absl::Status Module::CheckParamsFinite() const {
  COOPER_ASSIGN_OR_RETURN(const std::string name, group_->parameters().FindNonFiniteValue());
  return name.empty() ? absl::OkStatus() : NotFinite("the parameter", name);
}

}  // namespace cooper
