#include "module/interface/base_module.h"

#include "absl/strings/str_cat.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Missing(const char* call, const char* missing) {
  return absl::FailedPreconditionError(absl::StrCat(call, ": call ", missing, " first"));
}

}  // namespace

const std::shared_ptr<ModuleGroup>& BaseModule::group() const {
  static const auto* const none = new std::shared_ptr<ModuleGroup>;
  return *none;
}

absl::Status BaseModule::RequireBound(const char* call) const {
  return binded_ ? absl::OkStatus() : Missing(call, "Bind");
}

absl::Status BaseModule::RequireParams(const char* call) const {
  COOPER_RETURN_IF_ERROR(RequireBound(call));
  return params_initialized() ? absl::OkStatus() : Missing(call, "InitParams");
}

absl::Status BaseModule::RequireOptimizer(const char* call) const {
  COOPER_RETURN_IF_ERROR(RequireParams(call));
  return optimizer_initialized() ? absl::OkStatus() : Missing(call, "InitOptimizer");
}

absl::Status BaseModule::TrainStep(const DataBatch& batch, const StepOptions& options) {
  COOPER_RETURN_IF_ERROR(Forward(batch, /*is_train=*/true));
  COOPER_RETURN_IF_ERROR(Backward());
  if (options.check_finite) COOPER_RETURN_IF_ERROR(CheckFinite());
  return options.update ? Update() : absl::OkStatus();
}

absl::Status BaseModule::SaveCheckpoint(const std::string&, int, bool) const {
  return absl::UnimplementedError(
      "SaveCheckpoint: this kind of module has no symbol to save; save the parameters with "
      "SaveParams, or the whole training with a Checkpointer");
}

absl::Status BaseModule::SaveParams(const std::string& path) const {
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, GetParams());
  return SaveParamsFile(path, params.args, params.auxs);
}

absl::Status BaseModule::LoadParams(const std::string& path) {
  ModuleParams params;
  COOPER_RETURN_IF_ERROR(LoadParamsFile(path, &params.args, &params.auxs));
  return SetParams(params.args, params.auxs);
}

}  // namespace cooper
