// How a DataParallelExecutorGroup is bound: the split of the batch, the arrays of Parameters
// and one executor for each context.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "executor/run/bound_arrays.h"
#include "executor/run/footprint_bytes.h"
#include "executor/run/program_arrays.h"
#include "module/devices/batch_parts.h"
#include "module/devices/data_parallel_executor_group.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_type.h"

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
  COOPER_ASSIGN_OR_RETURN(bound->group2ctxs_,
                          options.compute.group2ctxs.For(group->num_contexts()));
  if (bound->several()) {
    COOPER_ASSIGN_OR_RETURN(bound->slices_,
                            SplitInputs(bind.data_shapes, bind.label_shapes, group->num_contexts(),
                                        options.compute.work_load_list));
  }
  // Whatever keeps shapes from being inferred, an executor says it better.
  const absl::Status parts = bound->FindParts();
  bound->FindLabelTypes();
  COOPER_RETURN_IF_ERROR(bound->BindExecutors(std::move(compiled)));
  bound->FindInputs();
  if (bound->several()) bound->FindCompleteGradients();
  COOPER_RETURN_IF_ERROR(parts);
  COOPER_RETURN_IF_ERROR(bound->FindOutputShapes());
  return bound;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> DataParallelExecutorGroup::Compile(
    const Symbol& symbol, const ModuleOptions& options, const ModuleBindOptions& bind,
    ModuleGroup* group) {
  DataParallelExecutorGroup unbound(symbol, options, bind, group, symbol.ListVariables());
  unbound.FindLabelTypes();
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

DType DataParallelExecutorGroup::TypeOf(const DataDesc& desc) const {
  const auto it = label_types_.find(desc.name);
  return it == label_types_.end() ? desc.dtype : it->second;
}

void DataParallelExecutorGroup::FindLabelTypes() {
  const auto is_float32 = [](const DataDesc& desc) { return desc.dtype == DType::kFloat32; };
  // Nearly all are, and then there is nothing to convert.
  if (absl::c_all_of(data_shapes_, is_float32) && absl::c_all_of(label_shapes_, is_float32)) return;
  CompileOptions known = CompileOptionsOf(symbol_, OptionsOf(0));
  for (const DataDesc& desc : label_shapes_) known.types.erase(desc.name);
  const auto inferred = InferTypePartial(symbol_, known.types);
  if (!inferred.ok()) return;  // binding says what contradicts
  const std::vector<std::string> names = symbol_.ListArguments();
  for (const DataDesc& desc : label_shapes_) {
    const auto it = absl::c_find(names, desc.name);
    if (it == names.end()) continue;
    const std::optional<DType> type = inferred->args[it - names.begin()];
    if (type.has_value()) label_types_.emplace(desc.name, *type);
  }
}

absl::Status DataParallelExecutorGroup::BindExecutors(
    std::shared_ptr<const CompiledProgram> compiled) {
  const int n = several() ? static_cast<int>(slices_.size()) : 1;
  executors_.resize(n);
  heads_.resize(n);
  // One after the other: arrays that the first one makes are looked at by none, but the pool of
  // freed blocks is shared, and binding allocates most.
  for (int i = 0; i < n; ++i) {
    COOPER_ASSIGN_OR_RETURN(executors_[i], BindOne(i, i == 0 ? std::move(compiled) : nullptr));
    footprint_bytes_ += FootprintBytes(*executors_[i]->compiled());
  }
  return AllocateIdle();
}

void DataParallelExecutorGroup::FindInputs() {
  for (const auto* descs : {&data_shapes_, &label_shapes_}) {
    for (const DataDesc& desc : *descs) {
      Input& input = inputs_.emplace_back(
          Input{.desc = desc, .dtype = TypeOf(desc), .slots = {}, .staged = {}});
      if (!arg_names_.contains(desc.name)) continue;
      for (const auto& executor : executors_) {
        const std::vector<std::string>& names = executor->arg_names();
        input.slots.push_back(static_cast<int>(absl::c_find(names, desc.name) - names.begin()));
      }
      input.staged.resize(executors_.size());
    }
  }
}

absl::Status DataParallelExecutorGroup::AllocateIdle() {
  const Parameters& parameters = group_->parameters();
  const auto has_all = [&](ParameterKind kind, const std::vector<std::string>& names, int i) {
    return absl::c_none_of(names, [&](const std::string& name) {
      return !parameters.Value(kind, name).is_null() && parameters.Value(kind, name, i).is_null();
    });
  };
  for (int i = num_executors(); i < group_->num_contexts(); ++i) {
    const bool has_grads = absl::c_none_of(param_names_, [&](const std::string& name) {
      return !parameters.Grad(name).is_null() && parameters.Grad(name, i).is_null();
    });
    if (has_grads && has_all(ParameterKind::kArg, param_names_, i) &&
        has_all(ParameterKind::kAux, aux_names_, i) &&
        has_all(ParameterKind::kState, options_.compute.state_names, i)) {
      continue;
    }
    if (!group2ctxs_.empty()) group_->devices().MakeGroupArenas(i, group2ctxs_[i]);
    BindOptions bind = OptionsOf(i);
    COOPER_ASSIGN_OR_RETURN(const auto compiled, Executor::Compile(symbol_, bind));
    COOPER_RETURN_IF_ERROR(Allocate(*compiled, i, &bind));
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
  bind.fallback = options_.compute.fallback;
  bind.disabled_passes = options_.compute.disabled_passes;
  bind.max_bytes = max_bytes_;
  if (!group2ctxs_.empty()) bind.group2ctx = group2ctxs_[i];
  bind.group_arenas = devices.group_arenas(i);
  for (const auto* descs : {&data_shapes_, &label_shapes_}) {
    for (const DataDesc& desc : *descs) {
      if (!arg_names_.contains(desc.name)) continue;  // a label that the graph does not use
      Shape shape = desc.shape;
      const int axis = BatchAxis(desc.layout);
      // A context without rows is allocated for as if it had the last one's.
      if (several() && axis >= 0) {
        shape[axis] = slices_[std::min<size_t>(i, slices_.size() - 1)].size();
      }
      bind.shapes[desc.name] = PartialShape(shape);
      bind.types[desc.name] = TypeOf(desc);
      bind.unbound_args.insert(desc.name);
    }
  }
  const Parameters& parameters = group_->parameters();
  auto give = [](const std::string& name, const NDArray& array, ArrayMap& to) {
    if (!array.is_null()) to.emplace(name, array);
  };
  for (const std::string& name : options_.compute.state_names) {
    give(name, parameters.Value(ParameterKind::kState, name, i), bind.args);
  }
  for (const std::string& name : param_names_) {
    give(name, parameters.Value(ParameterKind::kArg, name, i), bind.args);
    if (HasGrad(name)) give(name, parameters.Grad(name, i), bind.grads);
  }
  for (const std::string& name : aux_names_) {
    give(name, parameters.Value(ParameterKind::kAux, name, i), bind.auxs);
  }
  return bind;
}

absl::StatusOr<std::unique_ptr<Executor>> DataParallelExecutorGroup::BindOne(
    int i, std::shared_ptr<const CompiledProgram> compiled) {
  if (!group2ctxs_.empty()) {
    group_->devices().MakeGroupArenas(i, group2ctxs_[i]);
  }
  if (options_.compute.fallback) group_->devices().MakeGroupArenas(i, {{"", Context::Cpu()}});
  auto executor = BindWithArrays(i, std::move(compiled));
  if (executor.ok() || !several()) return executor;
  return AddContext(executor.status(), group_->devices().context(i).ToString());
}

absl::StatusOr<std::unique_ptr<Executor>> DataParallelExecutorGroup::BindWithArrays(
    int i, std::shared_ptr<const CompiledProgram> compiled) {
  BindOptions bind = OptionsOf(i);
  COOPER_ASSIGN_OR_RETURN(compiled, Executor::Compile(SymbolOf(i), bind, std::move(compiled)));
  COOPER_RETURN_IF_ERROR(CheckBytes(*compiled, bind));
  COOPER_RETURN_IF_ERROR(Allocate(*compiled, i, &bind));
  COOPER_ASSIGN_OR_RETURN(ProgramArrays arrays, BindArrays(*compiled, bind));
  std::vector<std::shared_ptr<Arena>> arenas = ArenasOf(compiled->program().contexts, bind);
  return Executor::Bind(std::move(compiled), std::move(arrays), std::move(arenas), bind.random);
}

absl::Status DataParallelExecutorGroup::Allocate(const CompiledProgram& compiled, int i,
                                                 BindOptions* bind) {
  Parameters& parameters = group_->parameters();
  absl::flat_hash_map<std::string, size_t> slots;
  const Program& program = compiled.program();
  for (const std::string& name : program.arg_names) slots.emplace(name, slots.size());
  const std::vector<int> writers = program.CountWriters();
  const auto allocate = [&](ParameterKind kind, const std::string& name) -> absl::Status {
    const auto it = slots.find(name);
    if (it == slots.end()) return absl::OkStatus();
    const size_t slot = it->second;
    const int value = program.arg_values[slot];
    COOPER_RETURN_IF_ERROR(parameters.Allocate(
        kind, name, i,
        {.shape = compiled.arg_shapes()[slot],
         .dtype = compiled.arg_types()[slot],
         .context = compiled.arg_contexts()[slot],
         .is_written = value >= 0 && writers[program.values[value].buffer] > 0}));
    bind->args[name] = parameters.Value(kind, name, i);
    return absl::OkStatus();
  };
  for (const std::string& name : param_names_) {
    COOPER_RETURN_IF_ERROR(allocate(ParameterKind::kArg, name));
  }
  for (const std::string& name : options_.compute.state_names) {
    COOPER_RETURN_IF_ERROR(allocate(ParameterKind::kState, name));
  }
  const std::vector<std::string>& auxs = program.aux_names;
  for (size_t slot = 0; slot < auxs.size(); ++slot) {
    COOPER_RETURN_IF_ERROR(parameters.Allocate(
        ParameterKind::kAux, auxs[slot], i,
        {compiled.aux_shapes()[slot], compiled.aux_types()[slot], compiled.aux_contexts()[slot]}));
    bind->auxs[auxs[slot]] = parameters.Value(ParameterKind::kAux, auxs[slot], i);
  }
  for (const std::string& name : param_names_) {
    if (!HasGrad(name) || !slots.contains(name)) continue;
    COOPER_RETURN_IF_ERROR(parameters.AllocateGrad(name, i));
    bind->grads[name] = parameters.Grad(name, i);
  }
  return absl::OkStatus();
}

absl::StatusOr<BatchLayouts> DataParallelExecutorGroup::InferLayouts() const {
  std::map<std::string, BatchInput> inputs;
  for (const auto* descs : {&data_shapes_, &label_shapes_}) {
    for (const DataDesc& desc : *descs) {
      if (!arg_names_.contains(desc.name)) continue;
      inputs[desc.name] = {.shape = desc.shape, .axis = BatchAxis(desc.layout)};
    }
  }
  const std::vector<std::string>& states = options_.compute.state_names;
  return BatchLayouts::Infer(symbol_, inputs, {states.begin(), states.end()});
}

const std::vector<BatchLayout>& DataParallelExecutorGroup::output_layouts() const {
  if (output_layouts_.empty()) {
    if (const auto layouts = InferLayouts(); layouts.ok()) output_layouts_ = layouts->outputs();
    output_layouts_.resize(symbol_.outputs().size());
  }
  return output_layouts_;
}

absl::Status DataParallelExecutorGroup::FindParts() {
  if (!several()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const BatchLayouts layouts, InferLayouts());
  output_layouts_ = layouts.outputs();
  for (const std::string& name : options_.compute.state_names) {
    const BatchLayout layout = layouts.variable(name);
    state_layouts_.push_back(layout.is_unknown() ? BatchLayout::Samples(0) : layout);
  }
  for (size_t k = 0; k < output_layouts_.size(); ++k) {
    if (!output_layouts_[k].is_unknown()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "output '", symbol_.ListOutputs()[k],
        "': it is not known where in it the samples of the batch are, behind ",
        layouts.first_unknown_node(static_cast<int>(k)), ", so the parts that ",
        group_->num_contexts(),
        " contexts compute cannot be joined; give its node the attribute __layout__ with N "
        "for the batch axis (\"NC\", \"TNC\"), or bind it to one context"));
  }
  if (slices_.size() == 1 || layouts.weighted_losses().empty()) return absl::OkStatus();
  for (size_t i = 0; i < slices_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(
        weighted_.emplace_back(),
        WeightLosses(symbol_, layouts.weighted_losses(), WeightOfPart(slices_, i)));
  }
  return absl::OkStatus();
}

// Sets the outputs' shapes for whole batches. kInvalidArgument if the contexts' shapes contradict
// the layouts.
absl::Status DataParallelExecutorGroup::FindOutputShapes() {
  output_shapes_ = executors_[0]->output_shapes();
  merged_outputs_.resize(output_shapes_.size());
  if (!several()) return absl::OkStatus();
  for (size_t k = 0; k < output_shapes_.size(); ++k) {
    const BatchLayout& layout = output_layouts_[k];
    for (size_t i = 0; i < executors_.size(); ++i) {
      const Shape& first = executors_[0]->output_shapes()[k];
      const Shape& shape = executors_[i]->output_shapes()[k];
      Shape expected = first;
      if (layout.has_samples() && layout.axis < first.rank()) {
        expected = layout.WithSamples(first, slices_[i].size());
      }
      if (shape == expected && layout.Fits(shape, slices_[i].size())) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "output '", executors_[0]->output_names()[k], "' is ", shape.ToString(), " for ",
          slices_[i].size(), " samples on context ", i, " and ", first.ToString(), " for ",
          slices_[0].size(), " on context 0, which are no parts of one array (", layout.ToString(),
          "); its node's attribute __layout__ says where the batch axis N is"));
    }
    if (layout.has_samples()) {
      output_shapes_[k] = layout.WithSamples(output_shapes_[k], slices_.back().end);
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
