#include "module/module_options.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace cooper {

std::vector<std::string> ParamNames(const std::vector<std::string>& args,
                                    const ModuleOptions& options) {
  std::vector<std::string> params;
  for (const std::string& name : args) {
    if (!absl::c_linear_search(options.data_names, name) &&
        !absl::c_linear_search(options.label_names, name) &&
        !absl::c_linear_search(options.state_names, name)) {
      params.push_back(name);
    }
  }
  return params;
}

absl::Status CheckGradReqs(const ModuleOptions& options, const ModuleBindOptions& bind) {
  if (!bind.for_training) return absl::OkStatus();
  const std::pair<const char*, const std::vector<std::string>*> without[] = {
      {"data without inputs_need_grad", bind.inputs_need_grad ? nullptr : &options.data_names},
      {"a label", &options.label_names},
      {"a state", &options.state_names},
      {"a fixed parameter", &options.fixed_param_names}};
  for (const auto& [name, req] : bind.grad_reqs) {
    for (const auto& [what, names] : without) {
      if (req == WriteReq::kNull || names == nullptr || !absl::c_linear_search(*names, name)) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("Bind: grad_reqs asks for a gradient of '", name, "', which is ", what));
    }
  }
  return absl::OkStatus();
}

absl::Status StayBound(const ModuleBindOptions& bound, const ModuleBindOptions& asked) {
  const std::tuple<const char*, bool, bool> uses[] = {
      {"for_training", bound.for_training, asked.for_training},
      {"inputs_need_grad", bound.inputs_need_grad, asked.inputs_need_grad}};
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
  if (absl::c_linear_search(options.data_names, arg)) {
    if (!bind.inputs_need_grad) return WriteReq::kNull;
  } else if (absl::c_linear_search(options.label_names, arg) ||
             absl::c_linear_search(options.state_names, arg) ||
             absl::c_linear_search(options.fixed_param_names, arg)) {
    return WriteReq::kNull;
  }
  const auto it = bind.grad_reqs.find(arg);
  return it == bind.grad_reqs.end() ? bind.grad_req : it->second;
}

}  // namespace cooper
