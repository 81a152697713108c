// How a DataParallelExecutorGroup is bound: the split of the batch, the store's arrays and one
// executor for each context.

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "executor/held_bytes.h"
#include "module/data_parallel_executor_group.h"
#include "ndarray/partial_shape.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Listing them walks the graph, which whoever compiled it has done.
VariableNames NamesOf(const Symbol& symbol, const CompiledProgram* compiled) {
  if (compiled == nullptr) return symbol.ListVariables();
  return {compiled->program().arg_names, compiled->program().aux_names};
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataParallelExecutorGroup>> DataParallelExecutorGroup::Bind(
    const Symbol& symbol, const ModuleOptions& options, const ModuleBindOptions& bind,
    ModuleGroup* group, std::shared_ptr<const CompiledProgram> compiled) {
  std::unique_ptr<DataParallelExecutorGroup> bound(
      new DataParallelExecutorGroup(symbol, options, bind, group, NamesOf(symbol, compiled.get())));
  COOPER_ASSIGN_OR_RETURN(bound->group2ctxs_, options.group2ctxs.For(group->num_contexts()));
  COOPER_RETURN_IF_ERROR(bound->Split());
  COOPER_RETURN_IF_ERROR(bound->BindExecutors(std::move(compiled)));
  bound->FindOutputAxes();
  return bound;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> DataParallelExecutorGroup::Compile(
    const Symbol& symbol, const ModuleOptions& options, const ModuleBindOptions& bind,
    ModuleGroup* group) {
  const DataParallelExecutorGroup unbound(symbol, options, bind, group, symbol.ListVariables());
  return Executor::Compile(symbol, unbound.OptionsOf(0));
}

DataParallelExecutorGroup::DataParallelExecutorGroup(const Symbol& symbol,
                                                     const ModuleOptions& options,
                                                     const ModuleBindOptions& bind,
                                                     ModuleGroup* group, VariableNames names)
    : symbol_(symbol),
      options_(options),
      data_shapes_(bind.data_shapes),
      label_shapes_(bind.label_shapes),
      max_bytes_(bind.max_bytes),
      for_training_(bind.for_training),
      group_(group) {
  param_names_ = ParamNames(names.args, options);
  for (const std::string& arg : names.args) grad_reqs_[arg] = GradReqOf(arg, options, bind);
  arg_names_.insert(names.args.begin(), names.args.end());
  aux_names_ = std::move(names.auxs);
}

// Every input has to have as many rows as the others.
absl::Status DataParallelExecutorGroup::Split() {
  const size_t n = static_cast<size_t>(group_->num_contexts());
  if (n == 1) return absl::OkStatus();
  if (!options_.work_load_list.empty() && options_.work_load_list.size() != n) {
    return absl::InvalidArgumentError(absl::StrCat(
        "work_load_list has ", options_.work_load_list.size(), " numbers for ", n, " contexts"));
  }
  const DataDesc* first = nullptr;
  int64_t rows = 0;
  for (const auto* descs : {&data_shapes_, &label_shapes_}) {
    for (const DataDesc& desc : *descs) {
      const int axis = BatchAxis(desc.layout);
      if (axis < 0) continue;
      if (axis >= desc.shape.rank()) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", desc.ToString(), "' has no axis ", axis, " to split over contexts"));
      }
      if (first == nullptr) {
        first = &desc;
        rows = desc.shape[axis];
      } else if (desc.shape[axis] != rows) {
        return absl::InvalidArgumentError(
            absl::StrCat("the inputs differ in their batch size: ", first->ToString(), " and ",
                         desc.ToString()));
      }
    }
  }
  if (first == nullptr) {
    return absl::InvalidArgumentError(
        "no input has a batch axis (N in its layout) to split over contexts");
  }
  const std::vector<double> loads =
      options_.work_load_list.empty() ? std::vector<double>(n, 1) : options_.work_load_list;
  COOPER_ASSIGN_OR_RETURN(slices_, SplitBatch(rows, loads));
  return absl::OkStatus();
}

absl::Status DataParallelExecutorGroup::BindExecutors(
    std::shared_ptr<const CompiledProgram> compiled) {
  const int n = group_->num_contexts();
  executors_.resize(n);
  staged_.resize(n);
  heads_.resize(n);
  // One after the other: arrays that the first one makes are looked at by none, but the pool of
  // freed blocks is shared, and binding allocates most.
  for (int i = 0; i < n; ++i) {
    COOPER_ASSIGN_OR_RETURN(executors_[i], BindOne(i, i == 0 ? std::move(compiled) : nullptr));
    held_bytes_ += HeldBytes(*executors_[i]->compiled());
  }
  return absl::OkStatus();
}

bool DataParallelExecutorGroup::HasGrad(const std::string& arg) const {
  const auto req = grad_reqs_.find(arg);
  return req != grad_reqs_.end() && req->second != WriteReq::kNull;
}

BindOptions DataParallelExecutorGroup::OptionsOf(int i) const {
  const DeviceContexts& devices = group_->devices();
  BindOptions bind;
  bind.context = devices.context(i);
  bind.arena = devices.arena(i);
  bind.random = for_training_ ? devices.random(i) : devices.evaluation_random(i);
  bind.grad_req = WriteReq::kNull;
  bind.grad_reqs = grad_reqs_;
  bind.fallback = options_.fallback;
  bind.disabled_passes = options_.disabled_passes;
  bind.max_bytes = max_bytes_;
  if (!group2ctxs_.empty()) bind.group2ctx = group2ctxs_[i];
  bind.group_arenas = devices.group_arenas(i);
  for (const auto* descs : {&data_shapes_, &label_shapes_}) {
    for (const DataDesc& desc : *descs) {
      if (!arg_names_.contains(desc.name)) continue;  // a label that the graph does not use
      Shape shape = desc.shape;
      const int axis = BatchAxis(desc.layout);
      if (several() && axis >= 0) shape[axis] = slices_[i].size();
      bind.shapes[desc.name] = PartialShape(shape);
      bind.types[desc.name] = desc.dtype;
      bind.unbound_args.insert(desc.name);
    }
  }
  GiveArrays(i, &bind);
  return bind;
}

void DataParallelExecutorGroup::GiveArrays(int i, BindOptions* bind) const {
  const ParameterStore& parameters = group_->parameters();
  auto give = [](const std::string& name, const NDArray& array, ArrayMap& to) {
    if (!array.is_null()) to.emplace(name, array);
  };
  for (const std::string& name : options_.state_names) {
    give(name, parameters.Value(ParameterKind::kState, name, i), bind->args);
  }
  for (const std::string& name : param_names_) {
    give(name, parameters.Value(ParameterKind::kArg, name, i), bind->args);
    if (HasGrad(name)) give(name, parameters.Grad(name, i), bind->grads);
  }
  for (const std::string& name : aux_names_) {
    give(name, parameters.Value(ParameterKind::kAux, name, i), bind->auxs);
  }
}

absl::StatusOr<std::unique_ptr<Executor>> DataParallelExecutorGroup::BindOne(
    int i, std::shared_ptr<const CompiledProgram> compiled) {
  if (!group2ctxs_.empty()) {
    group_->devices().MakeGroupArenas(i, group2ctxs_[i]);
  }
  if (options_.fallback) group_->devices().MakeGroupArenas(i, {{"", Context::Cpu()}});
  auto executor = BindGiven(i, std::move(compiled));
  if (executor.ok() || !several()) return executor;
  return AddContext(executor.status(), group_->devices().context(i).ToString());
}

absl::StatusOr<std::unique_ptr<Executor>> DataParallelExecutorGroup::BindGiven(
    int i, std::shared_ptr<const CompiledProgram> compiled) {
  BindOptions bind = OptionsOf(i);
  if (compiled == nullptr || !compiled->IsFor(symbol_, CompileOptionsOf(symbol_, bind))) {
    COOPER_ASSIGN_OR_RETURN(compiled, Executor::Compile(symbol_, bind));
  }
  COOPER_RETURN_IF_ERROR(CheckBytes(*compiled, bind));
  COOPER_RETURN_IF_ERROR(Allocate(*compiled, i));
  GiveArrays(i, &bind);
  return Executor::SimpleBind(symbol_, bind, std::move(compiled));
}

absl::Status DataParallelExecutorGroup::Allocate(const CompiledProgram& compiled, int i) {
  ParameterStore& parameters = group_->parameters();
  absl::flat_hash_map<std::string, size_t> slots;
  for (const std::string& name : compiled.program().arg_names) slots.emplace(name, slots.size());
  const auto allocate = [&](ParameterKind kind, const std::string& name) -> absl::Status {
    const auto it = slots.find(name);
    if (it == slots.end()) return absl::OkStatus();
    const size_t slot = it->second;
    return parameters.Allocate(
        kind, name, i,
        {compiled.arg_shapes()[slot], compiled.arg_types()[slot], compiled.arg_contexts()[slot]});
  };
  for (const std::string& name : param_names_) {
    COOPER_RETURN_IF_ERROR(allocate(ParameterKind::kArg, name));
  }
  for (const std::string& name : options_.state_names) {
    COOPER_RETURN_IF_ERROR(allocate(ParameterKind::kState, name));
  }
  const std::vector<std::string>& auxs = compiled.program().aux_names;
  for (size_t slot = 0; slot < auxs.size(); ++slot) {
    COOPER_RETURN_IF_ERROR(parameters.Allocate(
        ParameterKind::kAux, auxs[slot], i,
        {compiled.aux_shapes()[slot], compiled.aux_types()[slot], compiled.aux_contexts()[slot]}));
  }
  for (const std::string& name : param_names_) {
    if (!HasGrad(name) || !slots.contains(name)) continue;
    COOPER_RETURN_IF_ERROR(parameters.AllocateGrad(name, i));
  }
  return absl::OkStatus();
}

void DataParallelExecutorGroup::FindOutputAxes() {
  const std::vector<NodeEntry>& outputs = symbol_.outputs();
  output_shapes_ = executors_[0]->output_shapes();
  merged_outputs_.resize(outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto& attrs = outputs[k].node->attrs();
    const auto layout = attrs.find("__layout__");
    int axis = layout == attrs.end() ? 0 : BatchAxis(layout->second);
    if (axis >= output_shapes_[k].rank()) axis = -1;
    output_axes_.push_back(axis);
    for (size_t i = 1; i < executors_.size() && axis >= 0; ++i) {
      output_shapes_[k][axis] += executors_[i]->output_shapes()[k][axis];
    }
  }
}

}  // namespace cooper
