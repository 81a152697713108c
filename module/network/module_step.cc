// A batch's way through a Module: into its executor, forward and backward, and what comes out.

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/run/after_backward.h"
#include "module/network/batch_feed.h"
#include "module/network/label_checks.h"
#include "module/network/module.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// AfterBackward's, of the one check that a module has: no optimizer has such a name
// (Optimizer::NameOfPrepared).
constexpr int64_t kNameOfCheck = int64_t{1} << 61;

}  // namespace

// Reshapes if the batch comes in other shapes than the bound ones.
absl::Status Module::RebindForBatch(const DataBatch& batch) {
  const DataParallelExecutorGroup& bound = *bound_.current();
  COOPER_RETURN_IF_ERROR(CheckBatch(bound.data_shapes(), bound.label_shapes(), batch));
  if (HasShapes(bound.data_shapes(), bound.label_shapes(), batch)) return absl::OkStatus();
  std::vector<DataDesc> data_shapes = bound.data_shapes();
  std::vector<DataDesc> label_shapes = bound.label_shapes();
  TakeShapes(batch, data_shapes, label_shapes);
  return UseShapes(data_shapes, label_shapes);
}

void Module::CountBatch(const DataBatch& batch) {
  // Rows of `pad` may be samples too, with labels and gradients: those that an iterator fills a
  // batch with have an id.
  samples_ = batch.index.empty()
                 ? BatchSizeOf(bound_.current()->data_shapes()) - batch.pad
                 : absl::c_count_if(batch.index, [](int64_t sample) { return sample >= 0; });
  tokens_ = batch.lengths.empty() ? -1 : absl::c_accumulate(batch.lengths, int64_t{0});
}

absl::Status Module::CheckCounts() const {
  const GradientNormalization by = group_->learner().normalization();
  if (by == GradientNormalization::kTokens && tokens_ < 0) {
    return absl::InvalidArgumentError(
        "Backward: gradients are normalized by tokens (InitOptimizerOptions::normalization), but "
        "the batch has no lengths");
  }
  return absl::OkStatus();
}

void Module::CountGradients() {
  Learner& learner = group_->learner();
  const GradientNormalization by = learner.normalization();
  if (by == GradientNormalization::kBatchSize) return;
  learner.gradient_record().Count(by == GradientNormalization::kTokens ? tokens_ : samples_,
                                  /*add=*/!accumulated_names_.empty());
}

absl::Status Module::AcceptBatch(const DataBatch& batch) {
  evaluated_ = false;
  COOPER_RETURN_IF_ERROR(RebindForBatch(batch));
  missing_labels_ = batch.label.empty();
  CountBatch(batch);
  return absl::OkStatus();
}

absl::Status Module::Forward(const DataBatch& batch, std::optional<bool> is_train) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  COOPER_RETURN_IF_ERROR(AcceptBatch(batch));
  const ScopedProfile profile(ProfileCategory::kStep, "forward");
  COOPER_RETURN_IF_ERROR(FeedBatch(batch, *bound_.current()));
  return bound_.current()->Forward(is_train.value_or(for_training()));
}

absl::Status Module::AcceptTrainingBatch(const DataBatch& batch) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  COOPER_RETURN_IF_ERROR(AcceptBatch(batch));
  COOPER_RETURN_IF_ERROR(
      CheckLabels(label_args_, bound_.current()->label_shapes(), !missing_labels_));
  COOPER_RETURN_IF_ERROR(CheckCounts());
  return FeedBatch(batch, *bound_.current());
}

// Modules that merely share parameters update each for itself.
void Module::ReportAccumulatedGrads() {
  const bool shared = !group_->buckets().empty();
  for (const std::string& name : accumulated_names_)
    group_->learner().gradient_record().Accumulate(name, shared);
}

absl::Status Module::TrainStep(const DataBatch& batch, const StepOptions& options) {
  // Profiles tell the parts of a step apart.
  if (!for_training() || IsProfiling()) return BaseModule::TrainStep(batch, options);
  if (options.update) COOPER_RETURN_IF_ERROR(RequireOptimizer("TrainStep"));
  COOPER_RETURN_IF_ERROR(AcceptTrainingBatch(batch));
  const bool joins_update = is_on_one_gpu() && options.update && !options.check_finite;
  if (joins_update && accumulated_names_.empty()) return ForwardBackwardUpdate();
  COOPER_RETURN_IF_ERROR(options.check_finite ? ForwardBackwardChecked() : ForwardBackwardFed());
  return options.update ? Update() : absl::OkStatus();
}

absl::Status Module::ForwardBackwardFed(const AfterBackward* after) {
  COOPER_RETURN_IF_ERROR(bound_.current()->ForwardBackward(after));
  CountGradients();
  ReportAccumulatedGrads();
  return absl::OkStatus();
}

absl::Status Module::CheckFinite() {
  const ScopedProfile profile(ProfileCategory::kStep, "check finite");
  return batch_check_.Check(*executor_group(), group_->parameters());
}

absl::Status Module::ForwardBackwardChecked() {
  // A check behind the passes needs the executor's own queue, and something to check.
  const bool joins = is_on_one_gpu() && options_.compute.group2ctxs.empty() && !monitor_ &&
                     !executor_group()->executor(0).grad_names().empty() &&
                     batch_check_.Prepare(options_.compute.contexts[0]);
  if (!joins) {
    COOPER_RETURN_IF_ERROR(ForwardBackwardFed());
    return CheckFinite();
  }
  const auto enqueue = [this](DeviceQueue* queue) {
    return batch_check_.Enqueue(executor_group()->executor(0), group_->parameters(), queue);
  };
  const AfterBackward check = {.enqueue = enqueue, .name = kNameOfCheck};
  COOPER_RETURN_IF_ERROR(ForwardBackwardFed(&check));
  COOPER_ASSIGN_OR_RETURN(const bool finite, batch_check_.AllFinite());
  return finite ? absl::OkStatus() : CheckFinite();
}

absl::Status Module::ForwardBackwardUpdate() {
  CountGradients();  // gradients are written, not added to
  Learner& learner = group_->learner();
  const std::vector<std::string>& names = NamesToUpdate();
  int64_t name = 0;
  COOPER_ASSIGN_OR_RETURN(const bool prepared, learner.PrepareUpdate(names, &name));
  if (!prepared) {
    COOPER_RETURN_IF_ERROR(bound_.current()->ForwardBackward());
    return learner.Update(names);
  }
  const auto enqueue = [&](DeviceQueue* queue) { return learner.RunPreparedUpdate(queue); };
  const AfterBackward update = {.enqueue = enqueue, .name = name};
  // An update that is another one each time, as Adam's, would keep all of it from being recorded.
  const bool joined = std::exchange(last_update_, name) == name;
  absl::Status status = bound_.current()->ForwardBackward(joined ? &update : nullptr);
  if (!status.ok()) {
    learner.ReleasePreparedUpdate();
    return status;
  }
  if (!joined) COOPER_RETURN_IF_ERROR(learner.RunPreparedUpdate(nullptr));
  learner.MarkApplied(names);
  return absl::OkStatus();
}

const std::vector<std::string>& Module::NamesToUpdate() {
  // Cached, because a step must not allocate.
  const Executor& executor = executor_group()->executor(0);
  if (names_of_ != &executor) {
    names_of_ = &executor;
    names_to_update_.clear();
    const std::vector<std::string>& grads = executor.grad_names();
    for (const std::string& name : param_names_) {
      // A parameter without a gradient is fixed or was bound so.
      if (absl::c_linear_search(grads, name)) names_to_update_.push_back(name);
    }
  }
  const std::vector<std::string> others =
      group_->learner().gradient_record().SharedExcept(names_to_update_);
  if (others.empty()) return names_to_update_;
  // Add the gradients that other buckets have accumulated.
  names_of_ = nullptr;
  names_to_update_.insert(names_to_update_.end(), others.begin(), others.end());
  return names_to_update_;
}

absl::Status Module::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  const ScopedProfile profile(ProfileCategory::kStep, "update");
  return group_->learner().Update(NamesToUpdate());
}

absl::Status Module::MakeEvaluator(const DataBatch& batch) {
  ModuleBindOptions bind = bind_options_;
  bind.data_shapes = bound_.current()->data_shapes();
  bind.label_shapes = bound_.current()->label_shapes();
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
  if (!for_training()) return Forward(batch, /*is_train=*/false);
  if (evaluator_ == nullptr) COOPER_RETURN_IF_ERROR(MakeEvaluator(batch));
  evaluated_ = true;
  return evaluator_->Forward(batch, /*is_train=*/false);
}

absl::Status Module::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  if (!for_training()) {
    return absl::FailedPreconditionError("Backward: call Bind with for_training first");
  }
  COOPER_RETURN_IF_ERROR(
      CheckLabels(label_args_, bound_.current()->label_shapes(), !missing_labels_));
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
  if (!inputs_need_grad()) {
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
