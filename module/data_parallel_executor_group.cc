#include "module/data_parallel_executor_group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "module/kvstore/sum_arrays.h"
#include "module/named_arrays.h"
#include "ndarray/device.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Puts the contexts' rows into `whole`, which is made where it is null. A single part, or the first
// where there is no batch axis, is `whole` as it is.
absl::Status Join(const std::vector<NDArray>& parts, int axis, NDArray& whole) {
  if (parts.size() == 1 || axis < 0) {
    whole = parts[0];
    return absl::OkStatus();
  }
  if (whole.is_null()) {
    Shape shape = parts[0].shape();
    for (size_t i = 1; i < parts.size(); ++i) shape[axis] += parts[i].shape()[axis];
    COOPER_ASSIGN_OR_RETURN(whole, NDArray::Empty(shape, parts[0].dtype()));
  }
  int64_t begin = 0;
  for (const NDArray& part : parts) {
    COOPER_RETURN_IF_ERROR(PutSlice(part, axis, begin, whole));
    begin += part.shape()[axis];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NDArray> DataParallelExecutorGroup::Rows(const NDArray& whole, int axis,
                                                        int i) const {
  if (!several() || axis < 0) return whole;
  return TakeSlice(whole, axis, slices_[i]);
}

Context DataParallelExecutorGroup::ContextOf(const std::string& arg, int i) const {
  const std::vector<std::string>& names = executors_[i]->arg_names();
  const auto it = std::find(names.begin(), names.end(), arg);
  return executors_[i]->arg_contexts()[it - names.begin()];
}

absl::Status DataParallelExecutorGroup::SetInput(const DataDesc& desc, const NDArray* array) {
  if (!arg_names_.contains(desc.name)) return absl::OkStatus();
  const int axis = BatchAxis(desc.layout);
  // An output or a gradient of the run before: this one writes there while it still reads it.
  const bool overwritten =
      array != nullptr && std::any_of(executors_.begin(), executors_.end(),
                                      [&](const auto& each) { return each->Overwrites(*array); });
  for (int i = 0; i < num_executors(); ++i) {
    const Context context = ContextOf(desc.name, i);
    const bool usable = array != nullptr && !overwritten && array->dtype() == desc.dtype &&
                        SharesMemory(array->context(), context);
    if (usable && array->shape() == desc.shape) {
      COOPER_ASSIGN_OR_RETURN(const NDArray rows, Rows(*array, axis, i));
      COOPER_RETURN_IF_ERROR(executors_[i]->SetArg(desc.name, rows));
      continue;
    }
    NDArray& staged = staged_[i][desc.name];
    if (staged.is_null()) {
      Shape shape = desc.shape;
      if (several() && axis >= 0) shape[axis] = slices_[i].size();
      COOPER_ASSIGN_OR_RETURN(staged, NDArray::Zeros(shape, desc.dtype, context));
    }
    if (array == nullptr) {
      if (holds_values_.contains(desc.name)) COOPER_RETURN_IF_ERROR(staged.Fill(0));
    } else {
      if (array->shape() != desc.shape) return staged.CopyFrom(*array);  // says what differs
      COOPER_ASSIGN_OR_RETURN(const NDArray rows, Rows(*array, axis, i));
      holds_values_.insert(desc.name);
      COOPER_RETURN_IF_ERROR(staged.CopyFrom(rows));
    }
    COOPER_RETURN_IF_ERROR(executors_[i]->SetArg(desc.name, staged));
  }
  // Of a batch that has none there are zeros, not those of an earlier one.
  if (array == nullptr) holds_values_.erase(desc.name);
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::RunAll(absl::FunctionRef<absl::Status(int)> fn) {
  if (!monitored_) return group_->devices().Run(fn);
  for (int i = 0; i < num_executors(); ++i) COOPER_RETURN_IF_ERROR(fn(i));
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::RefreshArgs() {
  const ParameterStore& parameters = group_->parameters();
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
  if (executors_[0]->grad_names().empty()) return Forward(/*is_train=*/true);
  COOPER_RETURN_IF_ERROR(BeginForward());
  if (!several()) return executors_[0]->ForwardBackward({}, after);
  COOPER_ASSIGN_OR_RETURN(const bool tells, BeginGrads());
  if (!tells) return RunAll([&](int i) { return executors_[i]->ForwardBackward(); });
  return RunAll([&](int i) -> absl::Status {
    COOPER_RETURN_IF_ERROR(executors_[i]->Forward(/*is_train=*/true));
    return BackwardAndTell(i, {});
  });
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
    COOPER_RETURN_IF_ERROR(Join(parts, output_axes_[k], merged_outputs_[k]));
  }
  merged_ = true;
  return merged_outputs_;
}

absl::StatusOr<std::vector<NDArray>> DataParallelExecutorGroup::InputGrads() const {
  std::vector<NDArray> grads;
  for (const DataDesc& desc : data_shapes_) {
    std::vector<NDArray> parts;
    for (const auto& executor : executors_) parts.push_back(executor->grad(desc.name));
    const int axis = BatchAxis(desc.layout);
    if (parts[0].is_null()) {
      grads.emplace_back();  // its grad_req is null
    } else if (axis >= 0 || parts.size() == 1) {
      COOPER_RETURN_IF_ERROR(Join(parts, axis, grads.emplace_back()));
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
  for (const std::string& name : options_.state_names) {
    std::vector<NDArray> parts;
    parts.reserve(static_cast<size_t>(num_executors()));
    for (int i = 0; i < num_executors(); ++i) {
      parts.push_back(group_->parameters().Value(ParameterKind::kState, name, i));
    }
    COOPER_RETURN_IF_ERROR(Join(parts, 0, states.emplace_back()));
  }
  return states;
}

absl::Status DataParallelExecutorGroup::SetStates(absl::Span<const NDArray> states) {
  for (size_t k = 0; k < states.size(); ++k) {
    const std::string& name = options_.state_names[k];
    int64_t begin = 0, rows_of_all = 0;
    for (int i = 0; i < num_executors(); ++i) {
      const Shape shape = group_->parameters().Value(ParameterKind::kState, name, i).shape();
      if (shape.rank() > 0) rows_of_all += shape[0];
    }
    const Shape& given = states[k].shape();
    if (several() && given.rank() > 0 && given[0] != rows_of_all) {
      return absl::InvalidArgumentError(absl::StrCat("SetStates: '", name, "' is ",
                                                     given.ToString(), ", expected ", rows_of_all,
                                                     " rows over all contexts"));
    }
    for (int i = 0; i < num_executors(); ++i) {
      const NDArray state = group_->parameters().Value(ParameterKind::kState, name, i);
      absl::StatusOr<NDArray> rows = states[k];
      if (several() && state.shape().rank() > 0) {
        rows = TakeSlice(states[k], 0, {begin, begin + state.shape()[0]});
        begin += state.shape()[0];
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
  if (parts.size() == 1) return parts[0];
  COOPER_ASSIGN_OR_RETURN(NDArray sum, NDArray::Empty(parts[0].shape(), parts[0].dtype()));
  COOPER_RETURN_IF_ERROR(SumArrays(parts, sum));
  return sum;
}

absl::Status DataParallelExecutorGroup::UpdateMetric(EvalMetric& metric,
                                                     absl::Span<const NDArray> labels) {
  if (!several()) {
    COOPER_ASSIGN_OR_RETURN(const auto outputs, executors_[0]->outputs());
    return metric.UpdateDict(WithNames(label_shapes_, labels),
                             WithNames(executors_[0]->output_names(), outputs));
  }
  COOPER_ASSIGN_OR_RETURN(const auto outputs, OutputsByContext());
  for (int i = 0; i < num_executors(); ++i) {
    std::vector<NDArray> rows;
    for (size_t k = 0; k < labels.size(); ++k) {
      const int axis = k < label_shapes_.size() ? BatchAxis(label_shapes_[k].layout) : 0;
      COOPER_ASSIGN_OR_RETURN(rows.emplace_back(), Rows(labels[k], axis, i));
    }
    COOPER_RETURN_IF_ERROR(metric.UpdateDict(WithNames(label_shapes_, rows),
                                             WithNames(executors_[0]->output_names(), outputs[i])));
  }
  return absl::OkStatus();
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
