#include "module/module_options.h"

#include <algorithm>

#include "absl/algorithm/container.h"

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
