#include "module/devices/data_parallel_executor_group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "io/batch/exact_integers.h"
#include "module/devices/batch_parts.h"
#include "module/devices/named_arrays.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/array/device.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

BatchLayout LayoutOf(const DataDesc& desc) {
  const int axis = BatchAxis(desc.layout);
  return axis < 0 ? BatchLayout::Of(BatchLayout::Kind::kNone) : BatchLayout::Samples(axis);
}

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

absl::StatusOr<NDArray> DataParallelExecutorGroup::Rows(const NDArray& whole, const DataDesc& desc,
                                                        int i) const {
  return ReadSlice(whole, LayoutOf(desc), slices_, static_cast<size_t>(i));
}

absl::Status DataParallelExecutorGroup::SetInput(size_t input, const NDArray* array) {
  Input& to = inputs_[input];
  if (to.slots.empty()) return absl::OkStatus();
  const int axis = BatchAxis(to.desc.layout);
  if (array != nullptr) COOPER_RETURN_IF_ERROR(CheckExactIn(*array, to.dtype));
  // An output or a gradient of the run before: this one writes there while it still reads it.
  const bool overwritten =
      array != nullptr && std::any_of(executors_.begin(), executors_.end(),
                                      [&](const auto& each) { return each->Overwrites(*array); });
  for (int i = 0; i < num_executors(); ++i) {
    const int slot = to.slots[i];
    const Context context = executors_[i]->arg_contexts()[slot];
    const bool usable = array != nullptr && !overwritten && array->dtype() == to.dtype &&
                        SharesMemory(array->context(), context);
    if (usable && array->shape() == to.desc.shape) {
      COOPER_ASSIGN_OR_RETURN(const NDArray rows, Rows(*array, to.desc, i));
      COOPER_RETURN_IF_ERROR(executors_[i]->SetArg(slot, rows));
      continue;
    }
    NDArray& staged = to.staged[i];
    if (staged.is_null()) {
      Shape shape = to.desc.shape;
      if (several() && axis >= 0) shape[axis] = slices_[i].size();
      COOPER_ASSIGN_OR_RETURN(staged, NDArray::Zeros(shape, to.dtype, context));
    }
    if (array == nullptr) {
      if (to.holds_values) COOPER_RETURN_IF_ERROR(staged.Fill(0));
    } else {
      if (array->shape() != to.desc.shape) return staged.CopyFrom(*array);  // says what differs
      COOPER_ASSIGN_OR_RETURN(const NDArray rows, Rows(*array, to.desc, i));
      to.holds_values = true;
      COOPER_RETURN_IF_ERROR(staged.CopyFrom(rows));
    }
    COOPER_RETURN_IF_ERROR(executors_[i]->SetArg(slot, staged));
  }
  // A batch without this array gets zeros, not the values of an earlier batch.
  if (array == nullptr) to.holds_values = false;
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::RunAll(absl::FunctionRef<absl::Status(int)> fn) {
  if (!monitored_) {
    return group_->devices().Run(
        [&](int i) { return i < num_executors() ? fn(i) : absl::OkStatus(); });
  }
  for (int i = 0; i < num_executors(); ++i) COOPER_RETURN_IF_ERROR(fn(i));
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::RefreshArgs() {
  const Parameters& parameters = group_->parameters();
  if (generation_ == parameters.generation()) return absl::OkStatus();
  for (size_t i = 1; i < executors_.size(); ++i) {
    for (const std::string& name : param_names_) {
      COOPER_RETURN_IF_ERROR(executors_[i]->SetArg(
          name, parameters.Value(ParameterKind::kArg, name, static_cast<int>(i))));
    }
  }
  generation_ = parameters.generation();
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::BeginForward() {
  if (!several()) return absl::OkStatus();
  merged_ = false;
  COOPER_RETURN_IF_ERROR(RefreshArgs());
  group_->devices().AlignRandom();
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::Forward(bool is_train) {
  COOPER_RETURN_IF_ERROR(BeginForward());
  if (!several()) return executors_[0]->Forward(is_train);
  return RunAll([&](int i) { return executors_[i]->Forward(is_train); });
}

absl::Status DataParallelExecutorGroup::ForwardBackward(const AfterBackward* after) {
  if (several() && executors_[0]->grad_names().empty()) return Forward(/*is_train=*/true);
  COOPER_RETURN_IF_ERROR(BeginForward());
  if (!several()) return executors_[0]->ForwardBackward({}, after);
  for (std::vector<NDArray>& heads : heads_) heads.clear();
  return RunBackward(/*forward=*/true);
}

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
                          group_->learner().BeginGradients(complete_gradients_));
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

absl::StatusOr<std::vector<absl::Span<const NDArray>>> DataParallelExecutorGroup::OutputsByContext()
    const {
  std::vector<absl::Span<const NDArray>> outputs;
  for (const auto& executor : executors_) {
    COOPER_ASSIGN_OR_RETURN(outputs.emplace_back(), executor->outputs());
  }
  return outputs;
}

absl::StatusOr<absl::Span<const NDArray>> DataParallelExecutorGroup::Outputs() {
  if (!several()) return executors_[0]->outputs();
  COOPER_ASSIGN_OR_RETURN(const auto outputs, OutputsByContext());
  if (merged_) return merged_outputs_;
  std::vector<NDArray> parts(outputs.size());
  for (size_t k = 0; k < merged_outputs_.size(); ++k) {
    for (size_t i = 0; i < outputs.size(); ++i) parts[i] = outputs[i][k];
    COOPER_RETURN_IF_ERROR(JoinParts(parts, output_layouts_[k], slices_, merged_outputs_[k]));
  }
  merged_ = true;
  return merged_outputs_;
}

absl::StatusOr<std::vector<NDArray>> DataParallelExecutorGroup::InputGrads() const {
  std::vector<NDArray> grads;
  for (const DataDesc& desc : data_shapes_) {
    std::vector<NDArray> parts;
    for (const auto& executor : executors_) parts.push_back(executor->grad(desc.name));
    const BatchLayout layout = LayoutOf(desc);
    if (parts[0].is_null()) {
      grads.emplace_back();  // its grad_req is null
    } else if (layout.has_samples() || parts.size() == 1) {
      COOPER_RETURN_IF_ERROR(JoinParts(parts, layout, slices_, grads.emplace_back()));
    } else {
      COOPER_ASSIGN_OR_RETURN(grads.emplace_back(),
                              NDArray::Empty(parts[0].shape(), parts[0].dtype()));
      COOPER_RETURN_IF_ERROR(SumArrays(parts, grads.back()));
    }
  }
  return grads;
}

absl::StatusOr<std::vector<NDArray>> DataParallelExecutorGroup::States() const {
  std::vector<NDArray> states;
  for (size_t k = 0; k < options_.compute.state_names.size(); ++k) {
    std::vector<NDArray> parts;
    parts.reserve(static_cast<size_t>(num_executors()));
    for (int i = 0; i < num_executors(); ++i) {
      parts.push_back(
          group_->parameters().Value(ParameterKind::kState, options_.compute.state_names[k], i));
    }
    NDArray& whole = states.emplace_back();
    if (!several()) {
      whole = parts[0];
      continue;
    }
    COOPER_RETURN_IF_ERROR(JoinParts(parts, state_layouts_[k], slices_, whole));
  }
  return states;
}

absl::Status DataParallelExecutorGroup::SetStates(absl::Span<const NDArray> states) {
  for (size_t k = 0; k < states.size(); ++k) {
    const std::string& name = options_.compute.state_names[k];
    if (several() && !state_layouts_[k].Fits(states[k].shape(), slices_.back().end)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "SetStates: '", name, "' is ", states[k].ToString(), ", expected ", slices_.back().end,
          " rows over all contexts along its ", state_layouts_[k].ToString()));
    }
    for (int i = 0; i < num_executors(); ++i) {
      const NDArray state = group_->parameters().Value(ParameterKind::kState, name, i);
      absl::StatusOr<NDArray> rows = states[k];
      if (several()) {
        rows = ReadSlice(states[k], state_layouts_[k], slices_, static_cast<size_t>(i));
      }
      absl::Status status = rows.status();
      if (status.ok()) status = state.CopyFrom(*rows);
      COOPER_RETURN_IF_ERROR(AddContext(status, "SetStates: '", name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<NDArray> DataParallelExecutorGroup::Grad(const std::string& name) const {
  std::vector<NDArray> parts;
  for (const auto& executor : executors_) {
    const NDArray grad = executor->grad(name);
    if (grad.is_null()) {
      return absl::NotFoundError(absl::StrCat("GetGrad: '", name, "' has no gradient"));
    }
    parts.push_back(grad);
  }
  // Contexts without rows contribute gradients accumulated over earlier batches, or zeros.
  for (int i = num_executors(); i < group_->num_contexts(); ++i) {
    const NDArray grad = group_->parameters().Grad(name, i);
    if (!grad.is_null()) parts.push_back(grad);
  }
  if (parts.size() == 1) return parts[0];
  COOPER_ASSIGN_OR_RETURN(NDArray sum, NDArray::Empty(parts[0].shape(), parts[0].dtype()));
  COOPER_RETURN_IF_ERROR(SumArrays(parts, sum));
  return sum;
}

absl::Status DataParallelExecutorGroup::UpdateMetric(EvalMetric& metric,
                                                     absl::Span<const NDArray> labels) {
  const bool was_merged = merged_;
  COOPER_ASSIGN_OR_RETURN(const auto outputs, Outputs());
  absl::Status status = metric.UpdateDict(WithNames(label_shapes_, labels),
                                          WithNames(executors_[0]->output_names(), outputs));
  // Joined outputs of every bucket would take memory that nobody else asked for.
  if (several() && !was_merged) {
    merged_outputs_.assign(merged_outputs_.size(), NDArray());
    merged_ = false;
  }
  return status;
}

void DataParallelExecutorGroup::SetMonitorCallback(const Executor::MonitorCallback& callback,
                                                   bool monitor_all) {
  monitored_ = callback != nullptr;
  for (auto& executor : executors_) executor->SetMonitorCallback(callback, monitor_all);
}

MemoryReport DataParallelExecutorGroup::memory() const {
  MemoryReport sum;
  for (const auto& executor : executors_) {
    const MemoryReport report = executor->memory();
    sum.planned_bytes += report.planned_bytes;
    sum.lower_bound += report.lower_bound;
    sum.arena_bytes += report.arena_bytes;
    sum.values += report.values;
  }
  return sum;
}

}  // namespace cooper
