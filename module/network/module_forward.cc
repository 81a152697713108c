// A batch's way through a Module: into its executor, forward and backward, and what comes out.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/run/after_backward.h"
#include "module/network/module.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// The array that belongs to the i-th bound input. Batches that describe themselves are matched by
// name; others by position, as are those that know none of the names. Null if there is none.
const NDArray* ArrayFor(const std::vector<DataDesc>& descs, size_t i,
                        const std::vector<DataDesc>& provided, const std::vector<NDArray>& arrays) {
  if (provided.size() == arrays.size()) {
    for (size_t k = 0; k < provided.size(); ++k) {
      if (provided[k].name == descs[i].name) return &arrays[k];
    }
  }
  return i < arrays.size() ? &arrays[i] : nullptr;
}

bool HasName(const std::vector<DataDesc>& descs, const std::string& name) {
  return absl::c_any_of(descs, [&name](const DataDesc& desc) { return desc.name == name; });
}

// kInvalidArgument if the batch's descriptions lack an input or contradict the arrays' shapes.
absl::Status CheckProvided(const std::vector<DataDesc>& descs,
                           const std::vector<DataDesc>& provided,
                           const std::vector<NDArray>& arrays, const char* kind) {
  if (provided.size() != arrays.size()) return absl::OkStatus();
  const bool by_name = absl::c_any_of(
      descs, [&provided](const DataDesc& desc) { return HasName(provided, desc.name); });
  for (const DataDesc& desc : descs) {
    if (!by_name || HasName(provided, desc.name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has no ", kind, " '",
                                                   desc.name, "', but ", DescsToString(provided)));
  }
  for (size_t k = 0; k < provided.size(); ++k) {
    if (arrays[k].shape() == provided[k].shape) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "Forward: ", kind, " '", provided[k].name, "' has shape ", arrays[k].shape().ToString(),
        ", expected ", provided[k].shape.ToString(), " as the batch's provide_", kind, " says"));
  }
  return absl::OkStatus();
}

// kInvalidArgument if the batch lacks arrays that are bound. Shapes may differ from the bound ones.
absl::Status CheckBatch(const std::vector<DataDesc>& data, const std::vector<DataDesc>& label,
                        const DataBatch& batch) {
  if (batch.data.size() != data.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has ", batch.data.size(),
                                                   " data arrays, expected ", DescsToString(data)));
  }
  if (!batch.label.empty() && batch.label.size() < label.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has ", batch.label.size(),
                                                   " label arrays, expected ",
                                                   DescsToString(label)));
  }
  COOPER_RETURN_IF_ERROR(CheckProvided(data, batch.provide_data, batch.data, "data"));
  return CheckProvided(label, batch.provide_label, batch.label, "label");
}

// Whether the batch has the shapes of what is bound.
bool IsOfShapes(const std::vector<DataDesc>& data, const std::vector<DataDesc>& label,
                const DataBatch& batch) {
  for (size_t i = 0; i < data.size(); ++i) {
    if (ArrayFor(data, i, batch.provide_data, batch.data)->shape() != data[i].shape) return false;
  }
  for (size_t i = 0; i < label.size() && !batch.label.empty(); ++i) {
    if (ArrayFor(label, i, batch.provide_label, batch.label)->shape() != label[i].shape) {
      return false;
    }
  }
  return true;
}

// Changes the bound shapes to those of the batch.
void TakeShapes(const DataBatch& batch, std::vector<DataDesc>& data, std::vector<DataDesc>& label) {
  for (size_t i = 0; i < data.size(); ++i) {
    data[i].shape = ArrayFor(data, i, batch.provide_data, batch.data)->shape();
  }
  for (size_t i = 0; i < label.size(); ++i) {
    if (!batch.label.empty()) {
      label[i].shape = ArrayFor(label, i, batch.provide_label, batch.label)->shape();
      continue;
    }
    // Without labels their batch size still has to follow the data's.
    if (data.empty()) continue;
    const int from = std::max(0, BatchAxis(data[0].layout));
    const int to = std::max(0, BatchAxis(label[i].layout));
    if (from < data[0].shape.rank() && to < label[i].shape.rank()) {
      label[i].shape[to] = data[0].shape[from];
    }
  }
}

}  // namespace

// Reshapes if the batch comes in other shapes than the bound ones.
absl::Status Module::RebindForBatch(const DataBatch& batch) {
  const DataParallelExecutorGroup& bound = *bound_.front();
  COOPER_RETURN_IF_ERROR(CheckBatch(bound.data_shapes(), bound.label_shapes(), batch));
  if (IsOfShapes(bound.data_shapes(), bound.label_shapes(), batch)) return absl::OkStatus();
  std::vector<DataDesc> data_shapes = bound.data_shapes();
  std::vector<DataDesc> label_shapes = bound.label_shapes();
  TakeShapes(batch, data_shapes, label_shapes);
  return UseShapes(data_shapes, label_shapes);
}

absl::Status Module::Feed(size_t first_input, const std::vector<DataDesc>& descs,
                          const std::vector<DataDesc>& provided, const std::vector<NDArray>& arrays,
                          const char* kind) {
  for (size_t i = 0; i < descs.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        AddContext(bound_.front()->SetInput(first_input + i, ArrayFor(descs, i, provided, arrays)),
                   "Forward: ", kind, " '", descs[i].name, "'"));
  }
  return absl::OkStatus();
}

void Module::CountBatch(const DataBatch& batch) {
  // Rows of `pad` may be samples too, with labels and gradients: those that an iterator fills a
  // batch with have an id.
  samples_ = batch.index.empty()
                 ? BatchSizeOf(bound_.front()->data_shapes()) - batch.pad
                 : absl::c_count_if(batch.index, [](int64_t sample) { return sample >= 0; });
  tokens_ = batch.lengths.empty() ? -1 : absl::c_accumulate(batch.lengths, int64_t{0});
}

absl::Status Module::CheckCounts() const {
  const GradientNormalization by = group_->parameters().normalization();
  if (by == GradientNormalization::kTokens && tokens_ < 0) {
    return absl::InvalidArgumentError(
        "Backward: gradients are normalized by tokens (InitOptimizerOptions::normalization), but "
        "the batch has no lengths");
  }
  return absl::OkStatus();
}

void Module::CountGradients() {
  ParameterStore& parameters = group_->parameters();
  const GradientNormalization by = parameters.normalization();
  if (by == GradientNormalization::kBatchSize) return;
  parameters.gradient_record().Count(by == GradientNormalization::kTokens ? tokens_ : samples_,
                                     /*add=*/!accumulated_names_.empty());
}

absl::Status Module::AcceptBatch(const DataBatch& batch) {
  evaluated_ = false;
  COOPER_RETURN_IF_ERROR(RebindForBatch(batch));
  missing_labels_ = batch.label.empty();
  CountBatch(batch);
  return absl::OkStatus();
}

absl::Status Module::FeedBatch(const DataBatch& batch) {
  const DataParallelExecutorGroup& bound = *bound_.front();
  COOPER_RETURN_IF_ERROR(Feed(0, bound.data_shapes(), batch.provide_data, batch.data, "data"));
  return Feed(bound.data_shapes().size(), bound.label_shapes(), batch.provide_label, batch.label,
              "label");
}

absl::Status Module::Forward(const DataBatch& batch, std::optional<bool> is_train) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  COOPER_RETURN_IF_ERROR(AcceptBatch(batch));
  const ScopedProfile profile(ProfileCategory::kStep, "forward");
  COOPER_RETURN_IF_ERROR(FeedBatch(batch));
  return bound_.front()->Forward(is_train.value_or(for_training_));
}

absl::Status Module::AcceptTrainingBatch(const DataBatch& batch) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  COOPER_RETURN_IF_ERROR(AcceptBatch(batch));
  COOPER_RETURN_IF_ERROR(CheckLabels());
  COOPER_RETURN_IF_ERROR(CheckCounts());
  return FeedBatch(batch);
}

// Modules that merely share parameters update each for itself.
void Module::ReportAccumulatedGrads() {
  const bool shared = !group_->buckets().empty();
  for (const std::string& name : accumulated_names_)
    group_->parameters().gradient_record().Accumulate(name, shared);
}

absl::Status Module::TrainStep(const DataBatch& batch, const StepOptions& options) {
  // Profiles tell the parts of a step apart.
  if (!for_training_ || IsProfiling()) return BaseModule::TrainStep(batch, options);
  if (options.update) COOPER_RETURN_IF_ERROR(RequireOptimizer("TrainStep"));
  COOPER_RETURN_IF_ERROR(AcceptTrainingBatch(batch));
  const bool joins_update = is_on_one_gpu() && options.update && !options.check_finite;
  if (joins_update && accumulated_names_.empty()) return ForwardBackwardUpdate();
  COOPER_RETURN_IF_ERROR(options.check_finite ? ForwardBackwardChecked() : ForwardBackwardFed());
  return options.update ? Update() : absl::OkStatus();
}

absl::Status Module::ForwardBackwardFed(const AfterBackward* after) {
  COOPER_RETURN_IF_ERROR(bound_.front()->ForwardBackward(after));
  CountGradients();
  ReportAccumulatedGrads();
  return absl::OkStatus();
}

absl::Status Module::ForwardBackwardUpdate() {
  CountGradients();  // gradients are written, not added to
  ParameterStore& parameters = group_->parameters();
  const std::vector<std::string>& names = NamesToUpdate();
  int64_t name = 0;
  COOPER_ASSIGN_OR_RETURN(const bool prepared, parameters.PrepareUpdate(names, &name));
  if (!prepared) {
    COOPER_RETURN_IF_ERROR(bound_.front()->ForwardBackward());
    return parameters.Update(names);
  }
  const auto enqueue = [&](DeviceQueue* queue) { return parameters.RunPreparedUpdate(queue); };
  const AfterBackward update = {.enqueue = enqueue, .name = name};
  // An update that is another one each time, as Adam's, would keep all of it from being recorded.
  const bool joined = std::exchange(last_update_, name) == name;
  absl::Status status = bound_.front()->ForwardBackward(joined ? &update : nullptr);
  if (!status.ok()) {
    parameters.ReleasePreparedUpdate();
    return status;
  }
  if (!joined) COOPER_RETURN_IF_ERROR(parameters.RunPreparedUpdate(nullptr));
  parameters.MarkApplied(names);
  return absl::OkStatus();
}

absl::Status Module::MakeEvaluator(const DataBatch& batch) {
  ModuleBindOptions bind = bind_options_;
  bind.data_shapes = bound_.front()->data_shapes();
  bind.label_shapes = bound_.front()->label_shapes();
  COOPER_RETURN_IF_ERROR(CheckBatch(bind.data_shapes, bind.label_shapes, batch));
  TakeShapes(batch, bind.data_shapes, bind.label_shapes);
  bind.for_training = false;
  bind.inputs_need_grad = false;
  ModuleOptions options = options_;
  options.group = group_;
  COOPER_ASSIGN_OR_RETURN(auto evaluator, Create(symbol_, std::move(options)));
  COOPER_RETURN_IF_ERROR(evaluator->Bind(bind));
  if (monitor_) COOPER_RETURN_IF_ERROR(evaluator->InstallMonitor(monitor_, monitor_all_));
  evaluator_ = std::move(evaluator);
  return absl::OkStatus();
}

absl::Status Module::ForwardToEvaluate(const DataBatch& batch) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  if (!for_training_) return Forward(batch, /*is_train=*/false);
  if (evaluator_ == nullptr) COOPER_RETURN_IF_ERROR(MakeEvaluator(batch));
  evaluated_ = true;
  return evaluator_->Forward(batch, /*is_train=*/false);
}

absl::Status Module::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  if (!for_training_) {
    return absl::FailedPreconditionError("Backward: call Bind with for_training first");
  }
  COOPER_RETURN_IF_ERROR(CheckLabels());
  COOPER_RETURN_IF_ERROR(CheckCounts());
  const ScopedProfile profile(ProfileCategory::kStep, "backward");
  COOPER_RETURN_IF_ERROR(executor_group()->Backward(head_gradients));
  CountGradients();
  ReportAccumulatedGrads();
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const NDArray>> Module::GetOutputs() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetOutputs"));
  return active().executor_group()->Outputs();
}

absl::StatusOr<std::vector<NDArray>> Module::GetInputGrads() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetInputGrads"));
  if (!inputs_need_grad_) {
    return absl::FailedPreconditionError("GetInputGrads: call Bind with inputs_need_grad first");
  }
  return executor_group()->InputGrads();
}

absl::StatusOr<NDArray> Module::GetGrad(const std::string& name) const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetGrad"));
  return executor_group()->Grad(name);
}

absl::Status Module::UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) {
  COOPER_RETURN_IF_ERROR(RequireParams("UpdateMetric"));
  if (options_.compute.label_probabilities && !metric.takes_label_probabilities()) {
    std::string names;
    for (const auto& [name, value] : metric.GetNameValue()) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "UpdateMetric: ", names,
        " needs the predictions of all classes, but the module was made with label_probabilities"));
  }
  const ScopedProfile profile(ProfileCategory::kStep, "metric");
  return active().executor_group()->UpdateMetric(metric, labels);
}

absl::StatusOr<std::vector<NDArray>> Module::GetStates() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetStates"));
  return executor_group()->States();
}

absl::Status Module::SetStates(absl::Span<const NDArray> states) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  if (states.size() != options_.compute.state_names.size()) {
    return absl::InvalidArgumentError(absl::StrCat("SetStates: ", states.size(),
                                                   " arrays for the states ",
                                                   JoinNames(options_.compute.state_names)));
  }
  return executor_group()->SetStates(states);
}

absl::Status Module::SetStates(double value) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  for (const std::string& name : options_.compute.state_names) {
    for (int i = 0; i < group_->num_contexts(); ++i) {
      const NDArray state = group_->parameters().Value(ParameterKind::kState, name, i);
      COOPER_RETURN_IF_ERROR(state.Fill(value));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
