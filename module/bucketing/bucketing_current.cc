// Forwards names, shapes and the training calls that do not choose a bucket to the current bucket
// of a BucketingModule.

#include "module/bucketing/bucketing_module.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

const std::vector<DataDesc>& NoDescs() {
  static const auto* none = new std::vector<DataDesc>;
  return *none;
}

}  // namespace

const std::vector<std::string>& BucketingModule::data_names() const {
  return active_module() == nullptr ? default_symbol_.data_names : active_module()->data_names();
}

const std::vector<std::string>& BucketingModule::label_names() const {
  return active_module() == nullptr ? default_symbol_.label_names : active_module()->label_names();
}

std::vector<std::string> BucketingModule::output_names() const {
  auto s = symbol();
  return s.ok() ? s->ListOutputs() : std::vector<std::string>();
}

const std::vector<DataDesc>& BucketingModule::data_shapes() const {
  return active_module() == nullptr ? NoDescs() : active_module()->data_shapes();
}

const std::vector<DataDesc>& BucketingModule::label_shapes() const {
  return active_module() == nullptr ? NoDescs() : active_module()->label_shapes();
}

std::vector<std::pair<std::string, Shape>> BucketingModule::output_shapes() const {
  if (active_module() == nullptr) return {};
  return active_module()->output_shapes();
}

std::vector<BatchLayout> BucketingModule::output_layouts() const {
  return active_module() == nullptr ? std::vector<BatchLayout>()
                                    : active_module()->output_layouts();
}

absl::Status BucketingModule::InitParams(const InitParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("InitParams"));
  return group_->parameters().Init(options);
}

absl::Status BucketingModule::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                        const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  ParameterStore& parameters = group_->parameters();
  // Set then changes nothing and logs a warning.
  if (params_initialized() && !options.force_init) {
    return parameters.Set(arg_params, aux_params, options);
  }
  SetParamsOptions checked = options;
  if (options.allow_missing && !options.allow_extra) {
    COOPER_RETURN_IF_ERROR(CheckKnown(arg_params, aux_params));
    checked.allow_extra = true;
  }
  return parameters.Set(arg_params, aux_params, checked);
}

absl::Status BucketingModule::SaveForRollback() {
  COOPER_RETURN_IF_ERROR(RequireBound("SaveForRollback"));
  return current_->module->SaveForRollback();
}

absl::Status BucketingModule::RollbackBatch() {
  COOPER_RETURN_IF_ERROR(RequireBound("RollbackBatch"));
  return current_->module->RollbackBatch();
}

absl::Status BucketingModule::CheckFinite() {
  COOPER_RETURN_IF_ERROR(RequireBound("CheckFinite"));
  return current_->module->CheckFinite();
}

absl::Status BucketingModule::CheckParamsFinite() const {
  COOPER_RETURN_IF_ERROR(RequireBound("CheckParamsFinite"));
  return current_->module->CheckParamsFinite();
}

absl::Status BucketingModule::AverageContexts() {
  COOPER_RETURN_IF_ERROR(RequireBound("AverageContexts"));
  return current_->module->AverageContexts();
}

absl::Status BucketingModule::InitOptimizer(const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  return current_->module->InitOptimizerFor(bind_options_.data_shapes, options);
}

absl::Status BucketingModule::TrainStep(const DataBatch& batch, const StepOptions& options) {
  if (IsProfiling()) return BaseModule::TrainStep(batch, options);
  COOPER_RETURN_IF_ERROR(options.update ? RequireOptimizer("TrainStep") : RequireParams("Forward"));
  COOPER_RETURN_IF_ERROR(UseBucketOf(batch));
  return WithBucket(current_->module->TrainStep(batch, options), *current_key_);
}

absl::Status BucketingModule::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  return current_->module->Update();
}

absl::StatusOr<int> BucketingModule::JoinUpdate() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("JoinUpdate"));
  return current_->module->JoinUpdate();
}

absl::StatusOr<absl::Span<const NDArray>> BucketingModule::GetOutputs() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetOutputs"));
  return active_module()->GetOutputs();
}

absl::StatusOr<std::vector<NDArray>> BucketingModule::GetInputGrads() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetInputGrads"));
  return current_->module->GetInputGrads();
}

absl::StatusOr<NDArray> BucketingModule::GetGrad(const std::string& name) const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetGrad"));
  return current_->module->GetGrad(name);
}

absl::Status BucketingModule::UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) {
  COOPER_RETURN_IF_ERROR(RequireParams("UpdateMetric"));
  return active_module()->UpdateMetric(metric, labels);
}

absl::StatusOr<std::vector<NDArray>> BucketingModule::GetStates() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetStates"));
  return current_->module->GetStates();
}

absl::Status BucketingModule::SetStates(absl::Span<const NDArray> states) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  return current_->module->SetStates(states);
}

absl::Status BucketingModule::SetStates(double value) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  return current_->module->SetStates(value);
}

}  // namespace cooper
