// Parameters, gradients and states of a SequentialModule as a whole. sequential_module.cc has the
// flow of data.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "module/interface/base_module.h"
#include "module/parameters/given_parameter.h"
#include "module/sequential_module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status SequentialModule::InitParams(const InitParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("InitParams"));
  COOPER_RETURN_IF_ERROR(Each([&](BaseModule& module) { return module.InitParams(options); }));
  return GetParams().status();
}

absl::StatusOr<ModuleParams> SequentialModule::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetParams"));
  ModuleParams all;
  for (size_t i = 0; i < links_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const ModuleParams params, links_[i].module->GetParams());
    for (const auto& [from, to] :
         {std::pair(&params.args, &all.args), std::pair(&params.auxs, &all.auxs)}) {
      for (const auto& [name, array] : *from) {
        if (to->emplace(name, array).second) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("parameter '", name, "' is in module ", i,
                         " and in an earlier one: modules in a "
                         "sequence share none, give one of them another name"));
      }
    }
  }
  return all;
}

absl::Status SequentialModule::CheckInitialParams(const ArrayMap& arg_params,
                                                  const ArrayMap& aux_params,
                                                  const SetParamsOptions& options) const {
  ModuleParams rest{.args = arg_params, .auxs = aux_params};
  for (size_t i = 0; i < links_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const ModuleParams own, links_[i].module->GetParams());
    for (const auto& [known, given] :
         {std::pair(&own.args, &rest.args), std::pair(&own.auxs, &rest.auxs)}) {
      for (const auto& [name, array] : *known) {
        COOPER_RETURN_IF_ERROR(
            AddContext(CheckGivenParameter(name, array, *given, options.allow_missing),
                       "SetParams: module ", i));
        given->erase(name);
      }
    }
  }
  // Without allow_missing a module may keep unknown names for networks that are bound later.
  if (!options.allow_missing || options.allow_extra) return absl::OkStatus();
  for (const ArrayMap* given : {&rest.args, &rest.auxs}) {
    if (given->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("SetParams: no module has a parameter '", given->begin()->first, "'"));
  }
  return absl::OkStatus();
}

absl::Status SequentialModule::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                         const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  // Checked before the first module is changed. Without values there is nothing to lose.
  const bool had_values = params_initialized();
  if (had_values && options.force_init) {
    COOPER_RETURN_IF_ERROR(CheckInitialParams(arg_params, aux_params, options));
  }
  // Each module takes its own parameters.
  SetParamsOptions own = options;
  own.allow_extra = true;
  COOPER_RETURN_IF_ERROR(
      Each([&](BaseModule& module) { return module.SetParams(arg_params, aux_params, own); }));
  if (had_values) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(GetParams().status());
  return CheckInitialParams(arg_params, aux_params, options);
}

absl::StatusOr<NDArray> SequentialModule::GetGrad(const std::string& name) const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetGrad"));
  for (const Link& link : links_) {
    absl::StatusOr<NDArray> grad = link.module->GetGrad(name);
    if (grad.ok() || !absl::IsNotFound(grad.status())) return grad;
  }
  return absl::NotFoundError(absl::StrCat("GetGrad: '", name, "' has no gradient"));
}

absl::StatusOr<std::vector<NDArray>> SequentialModule::GetStates() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetStates"));
  std::vector<NDArray> all;
  for (const Link& link : links_) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> states, link.module->GetStates());
    all.insert(all.end(), states.begin(), states.end());
  }
  return all;
}

absl::Status SequentialModule::SetStates(absl::Span<const NDArray> states) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> all, GetStates());
  if (states.size() != all.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("SetStates: ", states.size(), " arrays for ", all.size(), " states"));
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> own, links_[i].module->GetStates());
    COOPER_RETURN_IF_ERROR(
        AddContext(links_[i].module->SetStates(states.subspan(0, own.size())), "module ", i));
    states.remove_prefix(own.size());
  }
  return absl::OkStatus();
}

absl::Status SequentialModule::SetStates(double value) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  return Each([&](BaseModule& module) { return module.SetStates(value); });
}

}  // namespace cooper
