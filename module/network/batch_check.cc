#include "module/network/batch_check.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "module/parameters/finite.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Larger losses are those of classifiers, such as the probabilities of all words. A wrong element
// of them shows in the gradients, which have fewer elements.
constexpr int64_t kMaxLossElements = 65536;

bool IsLoss(const NodeEntry& output) {
  const Node& node = *output.node;
  return !node.is_variable() && node.op()->IgnoresHeadGradient(node.call());
}

}  // namespace

bool BatchCheck::IsChecked(size_t k, const NDArray& output) const {
  return checks_losses_ && output.size() <= kMaxLossElements && IsLoss(symbol_.outputs()[k]);
}

absl::Status BatchCheck::Check(const DataParallelExecutorGroup& bound,
                               const Parameters& parameters) const {
  for (int i = 0; i < bound.num_executors(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, bound.executor(i).outputs());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!IsChecked(k, outputs[k])) continue;
      COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(outputs[k]));
      if (!finite) return NotFiniteError("the loss", OutputName(symbol_.outputs()[k]));
    }
  }
  COOPER_ASSIGN_OR_RETURN(const std::string grad,
                          FindNonFiniteGrad(parameters, bound.executor(0).grad_names()));
  return grad.empty() ? absl::OkStatus() : NotFiniteError("the gradient of", grad);
}

bool BatchCheck::Prepare(const Context& context) {
  if (queued_.has_value()) return true;
  auto made = FiniteCheck::Create(context);
  if (made.ok()) queued_ = *std::move(made);
  return queued_.has_value();
}

absl::Status BatchCheck::Enqueue(const Executor& executor, const Parameters& parameters,
                                 DeviceQueue* queue) {
  std::vector<NDArray> arrays;
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, executor.outputs());
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (IsChecked(k, outputs[k])) arrays.push_back(outputs[k]);
  }
  for (const std::string& name : executor.grad_names()) arrays.push_back(parameters.Grad(name));
  return queued_->EnqueueFn(arrays, queue);
}

}  // namespace cooper
