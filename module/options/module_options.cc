#include "module/options/module_options.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// Returns why the argument can have no gradient in training; null if it can have one.
const char* KindWithoutGradient(const std::string& arg, const ModuleOptions& options,
                                const ModuleBindOptions& bind) {
  const auto is_in = [&arg](const std::vector<std::string>& names) {
    return absl::c_linear_search(names, arg);
  };
  if (is_in(options.data_names)) {
    return bind.inputs_need_grad ? nullptr : "data without inputs_need_grad";
  }
  if (is_in(options.label_names)) return "a label";
  if (is_in(options.compute.state_names)) return "a state";
  return is_in(options.compute.fixed_param_names) ? "a fixed parameter" : nullptr;
}

}  // namespace

std::vector<std::string> ParamNames(const std::vector<std::string>& args,
                                    const ModuleOptions& options) {
  std::vector<std::string> params;
  for (const std::string& name : args) {
    if (!absl::c_linear_search(options.data_names, name) &&
        !absl::c_linear_search(options.label_names, name) &&
        !absl::c_linear_search(options.compute.state_names, name)) {
      params.push_back(name);
    }
  }
  return params;
}

ModuleOptions OptionsForBucket(const BucketSymbol& bucket, const ComputeOptions& compute,
                               bool has_all_names) {
  ModuleOptions options = {
      .data_names = bucket.data_names, .label_names = bucket.label_names, .compute = compute};
  for (auto* names : {&options.compute.fixed_param_names, &options.compute.state_names}) {
    if (has_all_names || names->empty()) continue;
    const std::vector<std::string> args = bucket.symbol.ListArguments();
    std::erase_if(*names,
                  [&](const std::string& name) { return !absl::c_linear_search(args, name); });
  }
  return options;
}

absl::Status CheckGradReqs(const ModuleOptions& options, const ModuleBindOptions& bind) {
  if (!bind.for_training) return absl::OkStatus();
  for (const auto& [name, req] : bind.grad_reqs) {
    const char* const kind = KindWithoutGradient(name, options, bind);
    if (req == WriteReq::kNull || kind == nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("Bind: grad_reqs requests a gradient of '", name, "', which is ", kind));
  }
  return absl::OkStatus();
}

ModuleBindOptions KeptOptions(ModuleBindOptions given) {
  given.seed.reset();
  given.compiled = nullptr;
  given.shared_module = nullptr;  // it may be destroyed before the module
  return given;
}

absl::Status CheckSameBinding(const ModuleBindOptions& bound, const ModuleBindOptions& requested) {
  const std::tuple<const char*, bool, bool> uses[] = {
      {"for_training", bound.for_training, requested.for_training},
      {"inputs_need_grad", bound.inputs_need_grad, requested.inputs_need_grad}};
  for (const auto& [name, is, wanted] : uses) {
    if (is == wanted) continue;
    LOG(WARNING) << "Bind: the module stays bound with " << name << " = " << (is ? "true" : "false")
                 << ": force_rebind is not set";
  }
  return absl::OkStatus();
}

WriteReq GradReqOf(const std::string& arg, const ModuleOptions& options,
                   const ModuleBindOptions& bind) {
  if (!bind.for_training) return WriteReq::kNull;
  if (KindWithoutGradient(arg, options, bind) != nullptr) return WriteReq::kNull;
  const auto it = bind.grad_reqs.find(arg);
  return it == bind.grad_reqs.end() ? bind.grad_req : it->second;
}

}  // namespace cooper
