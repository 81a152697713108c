#include "module/module.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Sets of shapes that stay bound beside the one in use: enough for a last, smaller batch and a
// validation batch not to cost a bind each time.
constexpr size_t kMaxBoundShapes = 8;

// Whether two sets of inputs are bound alike. Layouts do not matter to an executor.
bool SameShapes(const std::vector<DataDesc>& a, const std::vector<DataDesc>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DataDesc& x, const DataDesc& y) {
                      return x.name == y.name && x.shape == y.shape && x.dtype == y.dtype;
                    });
}

std::vector<std::string> NamesOf(const std::vector<DataDesc>& descs) {
  std::vector<std::string> names;
  for (const DataDesc& desc : descs) names.push_back(desc.name);
  return names;
}

// The arguments that a name of this kind may have been meant for.
std::vector<std::string> Candidates(const std::vector<std::string>& args, bool parameters) {
  std::vector<std::string> candidates;
  for (const std::string& arg : args) {
    const bool parameter = absl::EndsWith(arg, "_weight") || absl::EndsWith(arg, "_bias") ||
                           absl::EndsWith(arg, "_gamma") || absl::EndsWith(arg, "_beta");
    if (parameter == parameters) candidates.push_back(arg);
  }
  return candidates.empty() ? args : candidates;
}

}  // namespace

Module::Module(const Symbol& symbol, ModuleOptions options)
    : symbol_(symbol),
      options_(std::move(options)),
      group_(options_.group != nullptr ? options_.group
                                       : std::make_shared<ModuleGroup>(options_.contexts[0])),
      arg_names_(symbol.ListArguments()),
      aux_names_(symbol.ListAuxiliaryStates()) {
  for (const std::string& name : arg_names_) {
    if (!absl::c_linear_search(options_.data_names, name) &&
        !absl::c_linear_search(options_.label_names, name) &&
        !absl::c_linear_search(options_.state_names, name)) {
      param_names_.push_back(name);
    }
  }
}

absl::StatusOr<std::unique_ptr<Module>> Module::Create(const Symbol& symbol,
                                                       ModuleOptions options) {
  if (options.contexts.size() != 1 || !options.work_load_list.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("Module: one context is supported, got ", options.contexts.size(),
                     options.work_load_list.empty() ? "" : " and a work_load_list"));
  }
  if (!options.group2ctxs.empty()) {
    return absl::UnimplementedError("Module: group2ctxs is not supported");
  }
  if (!options.compression_params.empty()) {
    return absl::UnimplementedError("Module: compression_params is not supported");
  }
  std::unique_ptr<Module> module(new Module(symbol, std::move(options)));
  COOPER_RETURN_IF_ERROR(module->CheckNames());
  return module;
}

absl::Status Module::CheckNames() const {
  const std::pair<const char*, const std::vector<std::string>*> kinds[] = {
      {"data_names", &options_.data_names},
      {"state_names", &options_.state_names},
      {"fixed_param_names", &options_.fixed_param_names}};
  for (const auto& [kind, names] : kinds) {
    for (const std::string& name : *names) {
      if (absl::c_linear_search(arg_names_, name)) continue;
      const auto candidates = Candidates(arg_names_, names == &options_.fixed_param_names);
      return absl::InvalidArgumentError(absl::StrCat(
          "Module: ", kind, " has '", name,
          "', which is no argument of the symbol; candidates: ", absl::StrJoin(candidates, ", ")));
    }
  }
  return absl::OkStatus();
}

const std::vector<DataDesc>& Module::data_shapes() const {
  return bound_.empty() ? bind_options_.data_shapes : bound_.front()->data_shapes;
}

const std::vector<DataDesc>& Module::label_shapes() const {
  return bound_.empty() ? bind_options_.label_shapes : bound_.front()->label_shapes;
}

std::vector<std::pair<std::string, Shape>> Module::output_shapes() const {
  std::vector<std::pair<std::string, Shape>> shapes;
  if (executor() == nullptr) return shapes;
  for (size_t i = 0; i < executor()->output_names().size(); ++i) {
    shapes.emplace_back(executor()->output_names()[i], executor()->output_shapes()[i]);
  }
  return shapes;
}

absl::Status Module::CheckDescs(const ModuleBindOptions& options) const {
  std::vector<std::string> given = NamesOf(options.data_shapes);
  std::vector<std::string> wanted = options_.data_names;
  std::sort(given.begin(), given.end());
  std::sort(wanted.begin(), wanted.end());
  if (given != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("Bind: data_shapes has (", absl::StrJoin(NamesOf(options.data_shapes), ", "),
                     "), expected data_names (", absl::StrJoin(options_.data_names, ", "), ")"));
  }
  for (const DataDesc& desc : options.label_shapes) {
    if (!absl::c_linear_search(options_.label_names, desc.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Bind: label_shapes has '", desc.name, "', expected label_names (",
                       absl::StrJoin(options_.label_names, ", "), ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status Module::Bind(const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckDescs(options));
  if (!options.for_training && options.inputs_need_grad) {
    return absl::InvalidArgumentError("Bind: inputs_need_grad without for_training");
  }
  const ModuleBindOptions previous = std::exchange(bind_options_, options);
  const ModuleParams before = {.args = group_->args, .auxs = group_->auxs};
  const ArrayMap grads_before = group_->grads;
  if (binded_ && !params_initialized()) {
    // Arrays without values may get other shapes.
    for (const std::string& name : param_names_) {
      group_->args.erase(name);
      group_->grads.erase(name);
    }
    for (const std::string& name : aux_names_) group_->auxs.erase(name);
  }
  const absl::Status status = BindAndLoad(options);
  if (!status.ok()) {
    bind_options_ = previous;
    group_->args = before.args;
    group_->auxs = before.auxs;
    group_->grads = grads_before;
  }
  return status;
}

absl::Status Module::BindAndLoad(const ModuleBindOptions& options) {
  COOPER_ASSIGN_OR_RETURN(auto bound, MakeBound(options.data_shapes, options.label_shapes));
  if (loaded_params_.has_value()) {
    const bool was_bound = std::exchange(binded_, true);
    const absl::Status status = SetParams(loaded_params_->args, loaded_params_->auxs);
    binded_ = was_bound;
    if (!status.ok()) return status;
    loaded_params_.reset();
  }
  bound_.clear();
  bound_.push_back(std::move(bound));
  binded_ = true;
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  return absl::OkStatus();
}

WriteReq Module::GradReqOf(const std::string& arg) const {
  if (!bind_options_.for_training) return WriteReq::kNull;
  const auto it = bind_options_.grad_reqs.find(arg);
  if (absl::c_linear_search(options_.data_names, arg)) {
    if (!bind_options_.inputs_need_grad) return WriteReq::kNull;
  } else if (!absl::c_linear_search(param_names_, arg) ||
             absl::c_linear_search(options_.fixed_param_names, arg)) {
    return WriteReq::kNull;
  }
  return it == bind_options_.grad_reqs.end() ? bind_options_.grad_req : it->second;
}

absl::StatusOr<std::unique_ptr<Module::Bound>> Module::MakeBound(
    const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes) {
  BindOptions options;
  options.context = group_->arena->context();
  options.arena = group_->arena;
  options.random = group_->random;
  for (const std::vector<DataDesc>* descs : {&data_shapes, &label_shapes}) {
    for (const DataDesc& desc : *descs) {
      if (!absl::c_linear_search(arg_names_, desc.name))
        continue;  // a label the graph does not use
      options.shapes[desc.name] = PartialShape(desc.shape);
      options.types[desc.name] = desc.dtype;
      options.unbound_args.insert(desc.name);
    }
  }
  auto take = [](const std::string& name, const ArrayMap& from, ArrayMap& to) {
    const auto it = from.find(name);
    if (it != from.end()) to.insert(*it);
  };
  for (const std::string& name : arg_names_) {
    options.grad_reqs[name] = GradReqOf(name);
    if (absl::c_linear_search(options_.state_names, name)) {
      take(name, group_->states, options.args);
    } else if (absl::c_linear_search(param_names_, name)) {
      take(name, group_->args, options.args);
      if (options.grad_reqs[name] != WriteReq::kNull) take(name, group_->grads, options.grads);
    }
  }
  for (const std::string& name : aux_names_) take(name, group_->auxs, options.auxs);
  auto bound = std::make_unique<Bound>();
  bound->data_shapes = data_shapes;
  bound->label_shapes = label_shapes;
  COOPER_ASSIGN_OR_RETURN(bound->executor, Executor::SimpleBind(symbol_, options));
  if (monitor_) bound->executor->SetMonitorCallback(monitor_, monitor_all_);
  COOPER_RETURN_IF_ERROR(Adopt(*bound->executor));
  return bound;
}

// Arrays that the executor made are the group's from now on.
absl::Status Module::Adopt(const Executor& executor) {
  // Parameters that come after InitParams get their values as it said.
  std::vector<std::string> args;
  std::vector<std::string> auxs;
  if (group_->params_initialized) {
    for (const std::string& name : param_names_) {
      if (!group_->initialized.contains(name)) args.push_back(name);
    }
    for (const std::string& name : aux_names_) {
      if (!group_->initialized.contains(name)) auxs.push_back(name);
    }
  }
  for (const auto* names : {&args, &auxs}) {
    for (const std::string& name : *names) {
      const ArrayMap& given = names == &args ? group_->given_args : group_->given_auxs;
      if (group_->initializer == nullptr && !given.contains(name)) {
        return absl::FailedPreconditionError(absl::StrCat(
            "parameter '", name,
            "' has no value: InitParams was given none, and no initializer to make one"));
      }
    }
  }

  for (const std::string& name : param_names_) {
    group_->args.emplace(name, executor.arg(name));
    const NDArray grad = executor.grad(name);
    if (!grad.is_null()) group_->grads.emplace(name, grad);
  }
  for (const std::string& name : aux_names_) group_->auxs.emplace(name, executor.aux(name));
  for (const std::string& name : options_.state_names) {
    group_->states.emplace(name, executor.arg(name));
  }
  for (auto& [name, attrs] : symbol_.AttrDict()) {
    if (group_->args.contains(name) || group_->auxs.contains(name)) {
      group_->attrs.emplace(name, attrs);
    }
  }
  if (group_->updater != nullptr) {
    COOPER_RETURN_IF_ERROR(group_->updater->optimizer().AddSymbolAttributes(group_->attrs));
  }
  const absl::Status status = InitNames(args, auxs);
  if (status.ok()) return status;
  for (const std::string& name : args) {
    if (group_->initialized.contains(name)) continue;
    group_->args.erase(name);
    group_->grads.erase(name);
  }
  for (const std::string& name : auxs) {
    if (!group_->initialized.contains(name)) group_->auxs.erase(name);
  }
  return status;
}

absl::Status Module::UseShapes(const std::vector<DataDesc>& data_shapes,
                               const std::vector<DataDesc>& label_shapes) {
  for (size_t i = 0; i < bound_.size(); ++i) {
    if (SameShapes(bound_[i]->data_shapes, data_shapes) &&
        SameShapes(bound_[i]->label_shapes, label_shapes)) {
      std::rotate(bound_.begin(), bound_.begin() + i, bound_.begin() + i + 1);
      return absl::OkStatus();
    }
  }
  COOPER_ASSIGN_OR_RETURN(auto bound, MakeBound(data_shapes, label_shapes));
  bound_.insert(bound_.begin(), std::move(bound));
  if (bound_.size() > kMaxBoundShapes) bound_.pop_back();
  return absl::OkStatus();
}

absl::Status Module::Reshape(const std::vector<DataDesc>& data_shapes,
                             const std::vector<DataDesc>& label_shapes) {
  COOPER_RETURN_IF_ERROR(RequireBound("Reshape"));
  ModuleBindOptions options = bind_options_;
  options.data_shapes = data_shapes;
  options.label_shapes = label_shapes;
  COOPER_RETURN_IF_ERROR(CheckDescs(options));
  return UseShapes(data_shapes, label_shapes);
}

absl::Status Module::InitOptimizer(const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  if (optimizer_initialized() && !options.force_init) return absl::OkStatus();
  if (!options.kvstore.empty() && options.kvstore != "local" && options.kvstore != "device") {
    return absl::UnimplementedError(absl::StrCat("InitOptimizer: kvstore '", options.kvstore,
                                                 "', expected local, device or none"));
  }
  std::shared_ptr<Optimizer> optimizer = options.instance;
  if (optimizer == nullptr) {
    COOPER_ASSIGN_OR_RETURN(optimizer, CreateOptimizer(options.optimizer, options.optimizer_params,
                                                       options.lr_scheduler));
    if (!options.optimizer_params.contains("rescale_grad")) {
      const DataDesc& data = data_shapes()[0];
      const int axis = std::max(0, BatchAxis(data.layout));
      const int64_t batch_size = axis < data.shape.rank() ? data.shape[axis] : 1;
      optimizer->set_rescale_grad(1.0 / static_cast<double>(std::max<int64_t>(1, batch_size)));
    }
  }
  COOPER_RETURN_IF_ERROR(optimizer->AddSymbolAttributes(group_->attrs));
  auto updater = std::make_shared<Updater>(std::move(optimizer));
  if (!states_to_load_.empty()) COOPER_RETURN_IF_ERROR(updater->LoadStates(states_to_load_));
  states_to_load_.clear();
  group_->updater = std::move(updater);
  return absl::OkStatus();
}

absl::Status Module::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  if (!for_training_) {
    return absl::FailedPreconditionError("Backward: call Bind with for_training first");
  }
  return executor()->Backward(head_gradients);
}

absl::Status Module::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  const ArrayMap& grads = executor()->grad_dict();
  for (const std::string& name : param_names_) {
    const auto grad = grads.find(name);
    if (grad == grads.end()) continue;  // fixed, or bound without a gradient
    COOPER_RETURN_IF_ERROR(
        group_->updater->Update(name, executor()->arg_dict().at(name), grad->second));
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const NDArray>> Module::GetOutputs() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetOutputs"));
  return executor()->outputs();
}

absl::StatusOr<std::vector<NDArray>> Module::GetInputGrads() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetInputGrads"));
  if (!inputs_need_grad_) {
    return absl::FailedPreconditionError("GetInputGrads: call Bind with inputs_need_grad first");
  }
  std::vector<NDArray> grads;
  for (const DataDesc& desc : data_shapes()) grads.push_back(executor()->grad(desc.name));
  return grads;
}

absl::StatusOr<NDArray> Module::GetGrad(const std::string& name) const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetGrad"));
  NDArray grad = executor()->grad(name);
  if (!grad.is_null()) return grad;
  return absl::NotFoundError(absl::StrCat("GetGrad: '", name, "' has no gradient"));
}

absl::Status Module::UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) {
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, GetOutputs());
  return metric.Update(labels, outputs);
}

absl::StatusOr<std::vector<NDArray>> Module::GetStates() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetStates"));
  std::vector<NDArray> states;
  for (const std::string& name : options_.state_names) states.push_back(group_->states.at(name));
  return states;
}

absl::Status Module::SetStates(absl::Span<const NDArray> states) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  if (states.size() != options_.state_names.size()) {
    return absl::InvalidArgumentError(absl::StrCat("SetStates: ", states.size(),
                                                   " arrays for the states ",
                                                   absl::StrJoin(options_.state_names, ", ")));
  }
  for (size_t i = 0; i < states.size(); ++i) {
    absl::Status status = group_->states.at(options_.state_names[i]).CopyFrom(states[i]);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("SetStates: '", options_.state_names[i],
                                                      "': ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status Module::SetStates(double value) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  for (const std::string& name : options_.state_names) {
    COOPER_RETURN_IF_ERROR(group_->states.at(name).Fill(value));
  }
  return absl::OkStatus();
}

absl::Status Module::Prepare(const DataBatch&) {
  // Batches are read where they are: nothing has to be fetched before Forward.
  return RequireBound("Prepare");
}

absl::Status Module::InstallMonitor(Executor::MonitorCallback callback, bool monitor_all) {
  COOPER_RETURN_IF_ERROR(RequireBound("InstallMonitor"));
  monitor_ = std::move(callback);
  monitor_all_ = monitor_all;
  for (auto& bound : bound_) bound->executor->SetMonitorCallback(monitor_, monitor_all_);
  return absl::OkStatus();
}

MemoryReport Module::memory() const {
  return executor() == nullptr ? MemoryReport() : executor()->memory();
}

}  // namespace cooper
