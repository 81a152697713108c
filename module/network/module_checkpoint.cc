// Saves and loads MXNet's checkpoints of a Module, and optimizer states beside them.

#include <utility>

#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper {

absl::Status Module::SaveCheckpoint(const std::string& prefix, int epoch,
                                    bool save_optimizer_states) const {
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, GetParams());
  COOPER_RETURN_IF_ERROR(cooper::SaveCheckpoint(prefix, epoch, symbol_, params.args, params.auxs));
  if (!save_optimizer_states) return absl::OkStatus();
  return SaveOptimizerStates(StatesPath(prefix, epoch));
}

absl::StatusOr<std::unique_ptr<Module>> Module::Load(const std::string& prefix, int epoch,
                                                     bool load_optimizer_states,
                                                     ModuleOptions options) {
  COOPER_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                          LoadCheckpoint(prefix, epoch, options.compute.load_limits));
  // MXNet's optimizer states are pickles, which are rejected here, before anything is bound.
  if (load_optimizer_states) {
    COOPER_RETURN_IF_ERROR(
        AddContext(CheckParamsFile(StatesPath(prefix, epoch)), "optimizer states"));
  }
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                          Create(checkpoint.symbol, std::move(options)));
  ParameterStore& parameters = module->group_->parameters();
  parameters.Load({.args = std::move(checkpoint.args), .auxs = std::move(checkpoint.auxs)});
  if (load_optimizer_states) parameters.LoadOptimizerStatesLater(StatesPath(prefix, epoch));
  return module;
}

absl::Status Module::BorrowOptimizer(const Module& shared) const {
  COOPER_RETURN_IF_ERROR(RequireParams("BorrowOptimizer"));
  if (!shared.optimizer_initialized()) {
    return absl::FailedPreconditionError(
        "BorrowOptimizer: call InitOptimizer of the other module first");
  }
  if (shared.group_ == group_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "BorrowOptimizer: the modules share no parameters; bind one with the other as "
      "ModuleBindOptions::shared_module");
}

absl::Status Module::SaveOptimizerStates(const std::string& path) const {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("SaveOptimizerStates"));
  return group_->parameters().SaveOptimizerStates(path);
}

absl::Status Module::LoadOptimizerStates(const std::string& path) {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("LoadOptimizerStates"));
  return group_->parameters().LoadOptimizerStates(path);
}

}  // namespace cooper
