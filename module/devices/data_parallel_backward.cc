// Backward passes over several contexts.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "module/devices/batch_parts.h"
#include "module/devices/data_parallel_executor_group.h"
#include "ndarray/array/device.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Makes of a head gradient, unless it is null, one that is where the output is and of its dtype:
// the gradient of a module's data, which is float32 unless its description says otherwise, may be
// the head gradient of a network of 16-bit floats.
absl::Status MoveHeadGradient(const NDArray& output, NDArray& head) {
  if (head.is_null()) return absl::OkStatus();
  if (head.dtype() != output.dtype()) {
    COOPER_ASSIGN_OR_RETURN(head, head.AsType(output.dtype()));
  }
  if (SharesMemory(head.context(), output.context())) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(head, head.CopyTo(output.context()));
  return absl::OkStatus();
}

}  // namespace

absl::Status DataParallelExecutorGroup::MoveHeadGradients(
    absl::Span<const NDArray> head_gradients) {
  heads_[0].assign(head_gradients.begin(), head_gradients.end());
  if (heads_[0].empty()) return absl::OkStatus();
  const auto outputs = executors_[0]->outputs();
  if (!outputs.ok()) return absl::OkStatus();  // Backward knows why, and whether it matters
  for (size_t k = 0; k < std::min(heads_[0].size(), outputs->size()); ++k) {
    COOPER_RETURN_IF_ERROR(MoveHeadGradient((*outputs)[k], heads_[0][k]));
  }
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::Backward(absl::Span<const NDArray> head_gradients) {
  // A graph without parameters, or with fixed ones alone, has nothing to learn: no error, unless
  // Forward is missing.
  if (executors_[0]->grad_names().empty()) return executors_[0]->outputs().status();
  if (!several()) {
    COOPER_RETURN_IF_ERROR(MoveHeadGradients(head_gradients));
    return executors_[0]->Backward(heads_[0]);
  }
  if (!head_gradients.empty() && head_gradients.size() != output_layouts_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Backward: ", head_gradients.size(),
                                                   " head gradients for ", output_layouts_.size(),
                                                   " outputs"));
  }
  for (int i = 0; i < num_executors(); ++i) {
    heads_[i].clear();
    const auto outputs = executors_[i]->outputs();
    for (size_t k = 0; k < head_gradients.size(); ++k) {
      heads_[i].emplace_back();
      if (head_gradients[k].is_null()) continue;
      if (head_gradients[k].shape() != output_shapes_[k]) {
        return absl::InvalidArgumentError(absl::StrCat(
            "Backward: the head gradient of output '", executors_[0]->output_names()[k], "' is ",
            head_gradients[k].ToString(), ", expected ", output_shapes_[k].ToString()));
      }
      COOPER_ASSIGN_OR_RETURN(heads_[i].back(),
                              SliceHeadGradient(head_gradients[k], output_layouts_[k], slices_,
                                                static_cast<size_t>(i)));
      if (outputs.ok()) COOPER_RETURN_IF_ERROR(MoveHeadGradient((*outputs)[k], heads_[i].back()));
    }
  }
  return RunBackward(/*forward=*/false);
}

absl::Status DataParallelExecutorGroup::RunBackward(bool forward) {
  COOPER_RETURN_IF_ERROR(ClearIdleGrads());
  COOPER_ASSIGN_OR_RETURN(const KVStore::GradientReady ready,
                          group_->parameters().BeginGradients(complete_gradients_));
  return RunAll([&](int i) -> absl::Status {
    Executor& executor = *executors_[i];
    if (!ready) return forward ? executor.ForwardBackward() : executor.Backward(heads_[i]);
    if (forward) COOPER_RETURN_IF_ERROR(executor.Forward(/*is_train=*/true));
    return executor.Backward(heads_[i], [&](const std::string& name, DeviceQueue& queue) {
      return ready(name, i, queue);
    });
  });
}

absl::Status DataParallelExecutorGroup::ClearIdleGrads() {
  for (int i = num_executors(); i < group_->num_contexts(); ++i) {
    for (const std::string& name : param_names_) {
      const auto req = grad_reqs_.find(name);
      if (req == grad_reqs_.end() || req->second != WriteReq::kWrite) continue;
      const NDArray grad = group_->parameters().Grad(name, i);
      if (!grad.is_null()) COOPER_RETURN_IF_ERROR(grad.Fill(0));
    }
  }
  return absl::OkStatus();
}

void DataParallelExecutorGroup::FindCompleteGradients() {
  complete_gradients_.clear();
  if (num_executors() < group_->num_contexts()) return;
  for (const std::string& name : param_names_) {
    const auto req = grad_reqs_.find(name);
    if (req == grad_reqs_.end() || req->second == WriteReq::kNull) continue;
    if (req->second == WriteReq::kAdd) {
      complete_gradients_.clear();
      return;
    }
    if (!executors_[0]->grad(name).is_null()) complete_gradients_.push_back(name);
  }
}

}  // namespace cooper
