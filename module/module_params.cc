// Parameters of a Module: how they get their values, and the way in and out.

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/module.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::Status CheckShape(const std::string& name, const NDArray& given, const NDArray& array) {
  if (given.shape() == array.shape()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("parameter '", name, "' is given with shape ",
                                                 given.shape().ToString(), ", expected ",
                                                 array.shape().ToString()));
}

absl::Status IsMissing(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter '", name, "' is not among the given ones; set allow_missing to initialize it"));
}

// Whether `given` has values for `arrays`, so that nothing is overwritten if it has not.
absl::Status CheckGiven(const ArrayMap& arrays, const std::optional<ArrayMap>& given,
                        bool allow_missing) {
  if (!given.has_value()) return absl::OkStatus();
  for (const auto& [name, array] : arrays) {
    const auto it = given->find(name);
    if (it != given->end()) {
      COOPER_RETURN_IF_ERROR(CheckShape(name, it->second, array));
    } else if (!allow_missing) {
      return IsMissing(name);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Module::InitNames(const std::vector<std::string>& args,
                               const std::vector<std::string>& auxs) {
  auto init = [&](const std::string& name, const NDArray& array, ArrayMap& given,
                  bool have_given) -> absl::Status {
    const auto it = given.find(name);
    if (it != given.end()) {
      absl::Status status = array.CopyFrom(it->second);
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat("parameter '", name, "': ", status.message()));
      }
      given.erase(it);
      return status;
    }
    if (have_given && !group_->allow_missing) return IsMissing(name);
    if (group_->initializer == nullptr) return absl::OkStatus();
    const auto attr = group_->attrs.find(name);
    return group_->initializer->Init(
        {.name = name, .attrs = attr == group_->attrs.end() ? AttrMap() : attr->second}, array,
        group_->init_seed);
  };
  for (const std::string& name : args) {
    COOPER_RETURN_IF_ERROR(
        init(name, group_->first().args.at(name), group_->given_args, group_->have_given_args));
    COOPER_RETURN_IF_ERROR(group_->BroadcastArg(name));
    group_->initialized.insert(name);
  }
  for (const std::string& name : auxs) {
    COOPER_RETURN_IF_ERROR(
        init(name, group_->first().auxs.at(name), group_->given_auxs, group_->have_given_auxs));
    COOPER_RETURN_IF_ERROR(group_->BroadcastAux(name));
    group_->initialized.insert(name);
  }
  return absl::OkStatus();
}

absl::Status Module::InitParams(const InitParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("InitParams"));
  if (params_initialized() && !options.force_init) {
    // Parameters that are still to come may need it.
    if (group_->initializer == nullptr) {
      group_->initializer = options.initializer;
      group_->init_seed = options.seed;
      group_->allow_missing = true;
    }
    return absl::OkStatus();
  }
  COOPER_RETURN_IF_ERROR(
      CheckGiven(group_->first().args, options.arg_params, options.allow_missing));
  COOPER_RETURN_IF_ERROR(
      CheckGiven(group_->first().auxs, options.aux_params, options.allow_missing));
  group_->initializer = options.initializer;
  group_->init_seed = options.seed;
  group_->allow_missing = options.allow_missing;
  group_->have_given_args = options.arg_params.has_value();
  group_->have_given_auxs = options.aux_params.has_value();
  group_->given_args = options.arg_params.value_or(ArrayMap());
  group_->given_auxs = options.aux_params.value_or(ArrayMap());
  // By name, so that the random numbers a parameter gets do not depend on where it stands in the
  // graph. The names are the group's: buckets bound before this call have parameters here too.
  std::vector<std::string> args;
  std::vector<std::string> auxs;
  for (const auto& [name, array] : group_->first().args) args.push_back(name);
  for (const auto& [name, array] : group_->first().auxs) auxs.push_back(name);
  COOPER_RETURN_IF_ERROR(InitNames(args, auxs));
  // What waits for a later bucket must not change with the caller's arrays.
  for (ArrayMap* given : {&group_->given_args, &group_->given_auxs}) {
    for (auto& [name, array] : *given) {
      COOPER_ASSIGN_OR_RETURN(array, array.Copy());
    }
  }
  group_->params_initialized = true;
  return absl::OkStatus();
}

absl::StatusOr<ModuleParams> Module::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetParams"));
  ModuleParams params;
  for (const std::string& name : param_names_) {
    COOPER_ASSIGN_OR_RETURN(params.args[name], group_->MeanArg(name));
  }
  for (const std::string& name : aux_names_) {
    COOPER_ASSIGN_OR_RETURN(params.auxs[name], group_->MeanAux(name));
  }
  return params;
}

absl::Status Module::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                               const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  if (params_initialized() && !options.force_init) return absl::OkStatus();
  if (!options.allow_missing) {
    const auto initializer = group_->initializer;
    const uint64_t seed = group_->init_seed;
    COOPER_RETURN_IF_ERROR(InitParams({.initializer = nullptr,
                                       .arg_params = arg_params,
                                       .aux_params = aux_params,
                                       .allow_missing = false,
                                       .force_init = true,
                                       .allow_extra = options.allow_extra}));
    if (initializer == nullptr) return absl::OkStatus();
    // Parameters that are still to come get their values as InitParams has said.
    group_->initializer = initializer;
    group_->init_seed = seed;
    group_->allow_missing = true;
    return absl::OkStatus();
  }
  const auto kinds = {std::pair(&arg_params, &group_->first().args),
                      std::pair(&aux_params, &group_->first().auxs)};
  for (const auto& [given, arrays] : kinds) {
    for (const auto& [name, array] : *given) {
      const auto it = arrays->find(name);
      if (it != arrays->end()) {
        COOPER_RETURN_IF_ERROR(CheckShape(name, array, it->second));
      } else if (!options.allow_extra) {
        return absl::InvalidArgumentError(
            absl::StrCat("SetParams: the module has no parameter '", name, "'"));
      }
    }
  }
  for (const auto& [given, arrays] : kinds) {
    for (const auto& [name, array] : *given) {
      const auto it = arrays->find(name);
      if (it == arrays->end()) continue;
      absl::Status status = it->second.CopyFrom(array);
      if (status.ok()) {
        status = given == &arg_params ? group_->BroadcastArg(name) : group_->BroadcastAux(name);
      }
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat("SetParams: parameter '", name, "': ", status.message()));
      }
    }
  }
  // As in MXNet, the missing ones keep what they have.
  for (const auto& [name, array] : group_->first().args) group_->initialized.insert(name);
  for (const auto& [name, array] : group_->first().auxs) group_->initialized.insert(name);
  group_->params_initialized = true;
  return absl::OkStatus();
}

}  // namespace cooper
