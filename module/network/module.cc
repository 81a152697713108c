#include "module/network/module.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/network/bind_errors.h"
#include "module/network/label_checks.h"
#include "module/optimizer/updater.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"
#include "symbol/json/json.h"
#include "symbol/ops/loss/label_probabilities.h"

namespace cooper {
namespace {

// The arguments that a misspelt name of this kind may mean.
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
      bound_symbol_(symbol),
      options_(std::move(options)),
      group_(options_.group != nullptr ? options_.group
                                       : std::make_shared<ModuleGroup>(options_.compute.contexts)),
      batch_check_(symbol, /*checks_losses=*/!options_.compute.label_probabilities) {
  VariableNames names = symbol.ListVariables();
  arg_names_ = std::move(names.args);
  aux_names_ = std::move(names.auxs);
  param_names_ = ParamNames(arg_names_, options_);
  output_names_ = symbol.ListOutputs();
  for (const std::string& name : options_.label_names) {
    if (absl::c_linear_search(arg_names_, name)) label_args_.push_back(name);
  }
}

absl::StatusOr<std::unique_ptr<Module>> Module::Create(const Symbol& symbol,
                                                       ModuleOptions options) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  if (options.compute.contexts.empty()) {
    return absl::InvalidArgumentError("Module: contexts is empty");
  }
  if (options.group != nullptr &&
      options.group->num_contexts() != static_cast<int>(options.compute.contexts.size())) {
    return absl::InvalidArgumentError(absl::StrCat("Module: ", options.compute.contexts.size(),
                                                   " contexts, but the group has ",
                                                   options.group->num_contexts()));
  }
  COOPER_RETURN_IF_ERROR(options.compute.group2ctxs.For(options.compute.contexts.size()).status());
  std::unique_ptr<Module> module(new Module(symbol, std::move(options)));
  COOPER_RETURN_IF_ERROR(module->CheckNames());
  if (module->options_.compute.label_probabilities) {
    COOPER_ASSIGN_OR_RETURN(module->bound_symbol_, LabelProbabilities(symbol));
  }
  return module;
}

absl::Status Module::CheckNames() const {
  const std::pair<const char*, const std::vector<std::string>*> kinds[] = {
      {"data_names", &options_.data_names},
      {"state_names", &options_.compute.state_names},
      {"fixed_param_names", &options_.compute.fixed_param_names}};
  for (const auto& [kind, names] : kinds) {
    for (const std::string& name : *names) {
      if (absl::c_linear_search(arg_names_, name)) continue;
      const auto candidates = Candidates(arg_names_, names == &options_.compute.fixed_param_names);
      return absl::InvalidArgumentError(absl::StrCat(
          "Module: ", kind, " has '", name, "', which is no argument of the symbol; candidates: ",
          JoinNames(candidates), DidYouMean(name, candidates)));
    }
  }
  return absl::OkStatus();
}

ModuleDescription Module::description() const {
  if (evaluated_) return evaluator_->description();
  static const std::vector<Shape>* const no_shapes = new std::vector<Shape>;
  const DataParallelExecutorGroup* const bound = bound_.current();
  return {.data_names = options_.data_names,
          .label_names = options_.label_names,
          .output_names = output_names_,
          .data_shapes = bound == nullptr ? bind_options_.data_shapes : bound->data_shapes(),
          .label_shapes = bound == nullptr ? bind_options_.label_shapes : bound->label_shapes(),
          .output_shapes = bound == nullptr ? *no_shapes : bound->output_shapes()};
}

std::vector<BatchLayout> Module::output_layouts() const {
  if (evaluated_) return evaluator_->output_layouts();
  return bound_.empty() ? std::vector<BatchLayout>() : bound_.current()->output_layouts();
}

absl::Status Module::CheckDescs(const ModuleBindOptions& options) const {
  return CheckInputNames(options.data_shapes, options.label_shapes, options_, arg_names_);
}

absl::Status Module::CheckShared(const Module& other) const {
  if (!other.binded() || !other.params_initialized()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Bind: call ", other.binded() ? "InitParams" : "Bind", " of shared_module first"));
  }
  if (other.options_.compute.contexts != options_.compute.contexts) {
    const auto text = [](const std::vector<Context>& contexts) {
      return absl::StrJoin(contexts, ", ", absl::StreamFormatter());
    };
    return absl::InvalidArgumentError(absl::StrCat("Bind: shared_module is on ",
                                                   text(other.options_.compute.contexts),
                                                   ", expected ", text(options_.compute.contexts)));
  }
  return absl::OkStatus();
}

absl::Status Module::Bind(const ModuleBindOptions& given) {
  // A module without labels ignores those of an iterator.
  ModuleBindOptions options = given;
  if (options_.label_names.empty()) options.label_shapes.clear();
  if (binded_ && !options.force_rebind) return CheckSameBinding(bind_options_, options);
  COOPER_RETURN_IF_ERROR(CheckDescs(options));
  COOPER_RETURN_IF_ERROR(CheckLabelNames(symbol_, arg_names_, options_, options));
  if (!options.for_training && options.inputs_need_grad) {
    return absl::InvalidArgumentError("Bind: inputs_need_grad without for_training");
  }
  COOPER_RETURN_IF_ERROR(CheckGradReqs(options_, options));
  // Bound executors still use the old group until they are destroyed.
  const std::shared_ptr<ModuleGroup> group_before = group_;
  if (options.shared_module != nullptr) {
    COOPER_RETURN_IF_ERROR(CheckShared(*options.shared_module));
    group_ = options.shared_module->group_;
  }
  const ModuleBindOptions previous = std::exchange(bind_options_, KeptOptions(options));
  absl::Status status;
  {
    Parameters& parameters = group_->parameters();
    Parameters::Rollback rollback(parameters);
    // Arrays without values may get other shapes, and so may states, whose shapes depend on the
    // batch size.
    if (binded_ && !params_initialized()) parameters.DropUninitialized(param_names_, aux_names_);
    if (binded_ && group_ == group_before) parameters.DropStates(options_.compute.state_names);
    status = BindAndLoad(options);
    if (status.ok()) rollback.Commit();
  }
  if (!status.ok()) {
    bind_options_ = previous;
    group_ = group_before;
    return status;
  }
  if (options.seed.has_value()) group_->devices().SetSeed(*options.seed);
  return absl::OkStatus();
}

absl::Status Module::BindAndLoad(const ModuleBindOptions& options) {
  COOPER_ASSIGN_OR_RETURN(auto bound,
                          BindGroup(options.data_shapes, options.label_shapes, options.compiled));
  COOPER_RETURN_IF_ERROR(group_->parameters().ApplyLoaded());
  // On a first Bind, other modules of the group may be accumulating gradients.
  if (binded_) COOPER_RETURN_IF_ERROR(group_->learner().ZeroGrads());
  bound_.Clear();
  bound_.Add(std::move(bound));
  names_of_ = nullptr;
  evaluator_ = nullptr;
  evaluated_ = false;
  accumulated_names_.clear();
  for (const std::string& name : param_names_) {
    if (GradReqOf(name, options_, bind_options_) == WriteReq::kAdd)
      accumulated_names_.push_back(name);
  }
  binded_ = true;
  return absl::OkStatus();
}

ModuleBindOptions Module::BindOptionsFor(const std::vector<DataDesc>& data_shapes,
                                         const std::vector<DataDesc>& label_shapes) const {
  ModuleBindOptions bind = bind_options_;
  bind.data_shapes = data_shapes;
  bind.label_shapes = label_shapes;
  return bind;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> Module::Compile(
    const ModuleBindOptions& given) const {
  const ScopedProfile profile(ProfileCategory::kStep, "bind");
  if (options_.compute.contexts.size() > 1 || !options_.compute.group2ctxs.empty()) {
    return absl::UnimplementedError("Compile: expected one context, and no group2ctxs");
  }
  ModuleBindOptions options = given;
  if (options_.label_names.empty()) options.label_shapes.clear();
  COOPER_RETURN_IF_ERROR(CheckDescs(options));
  return DataParallelExecutorGroup::Compile(bound_symbol_, options_, options, group_.get());
}

absl::StatusOr<std::unique_ptr<DataParallelExecutorGroup>> Module::BindGroup(
    const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes,
    std::shared_ptr<const CompiledProgram> compiled) {
  const ScopedProfile profile(ProfileCategory::kStep, "bind");
  const KnownShapes inputs = ShapesOfInputs(arg_names_, data_shapes, label_shapes);
  if (compiled == nullptr && group_->num_contexts() == 1) {
    compiled = bound_.Resize(data_shapes, label_shapes, inputs);
  }
  auto made = DataParallelExecutorGroup::Bind(bound_symbol_, options_,
                                              BindOptionsFor(data_shapes, label_shapes),
                                              group_.get(), std::move(compiled));
  if (!made.ok()) {
    // The caller knows the shapes that it gave better than the node that they do not fit.
    return AddContext(ExplainUnknownShapes(made.status(), symbol_, inputs, options_), "bound to ",
                      DescsToString(data_shapes), label_shapes.empty() ? "" : ", ",
                      DescsToString(label_shapes));
  }
  std::unique_ptr<DataParallelExecutorGroup> bound = *std::move(made);
  if (monitor_) bound->SetMonitorCallback(monitor_, monitor_all_);
  if (HasNumpyOperators(symbol_)) group_->parameters().SaveForNumpyMode();
  COOPER_RETURN_IF_ERROR(
      group_->parameters().Complete(param_names_, aux_names_, symbol_.VariableAttrDict()));
  return bound;
}

absl::Status Module::UseShapes(const std::vector<DataDesc>& data_shapes,
                               const std::vector<DataDesc>& label_shapes) {
  if (bound_.Use(data_shapes, label_shapes)) return absl::OkStatus();
  Parameters::Rollback rollback(group_->parameters());
  COOPER_ASSIGN_OR_RETURN(auto bound, BindGroup(data_shapes, label_shapes));
  rollback.Commit();
  bound_.Add(std::move(bound));
  return absl::OkStatus();
}

absl::Status Module::Reshape(const std::vector<DataDesc>& data_shapes,
                             const std::vector<DataDesc>& label_shapes) {
  COOPER_RETURN_IF_ERROR(RequireBound("Reshape"));
  COOPER_RETURN_IF_ERROR(CheckDescs(BindOptionsFor(data_shapes, label_shapes)));
  evaluated_ = false;
  COOPER_RETURN_IF_ERROR(UseShapes(data_shapes, label_shapes));
  bind_options_.data_shapes = data_shapes;
  bind_options_.label_shapes = label_shapes;
  return absl::OkStatus();
}

absl::Status Module::Prepare(const DataBatch&) {
  // Forward reads batches in place: there is nothing to prepare.
  return RequireBound("Prepare");
}

absl::Status Module::InstallMonitor(Executor::MonitorCallback callback, bool monitor_all) {
  COOPER_RETURN_IF_ERROR(RequireBound("InstallMonitor"));
  monitor_ = std::move(callback);
  monitor_all_ = monitor_all;
  bound_.SetMonitorCallback(monitor_, monitor_all_);
  return evaluator_ == nullptr ? absl::OkStatus()
                               : evaluator_->InstallMonitor(monitor_, monitor_all_);
}

MemoryReport Module::memory(bool to_evaluate) const {
  if (to_evaluate) return evaluator_ == nullptr ? MemoryReport() : evaluator_->memory();
  return bound_.empty() ? MemoryReport() : bound_.current()->memory();
}

int64_t Module::footprint_bytes() const {
  return bound_.footprint_bytes() + (evaluator_ == nullptr ? 0 : evaluator_->footprint_bytes());
}

absl::Status Module::InitParams(const InitParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("InitParams"));
  const Parameters::NetworkNames own{.args = param_names_, .auxs = aux_names_};
  return group_->parameters().Init(options, &own);
}

absl::StatusOr<ModuleParams> Module::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetParams"));
  return group_->parameters().Means(param_names_, aux_names_);
}

absl::Status Module::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                               const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  const Parameters::NetworkNames own{.args = param_names_, .auxs = aux_names_};
  return group_->parameters().Set(arg_params, aux_params, options, &own);
}

absl::Status Module::InitOptimizer(const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  return group_->InitOptimizer(options, BatchSizeOf(bind_options_.data_shapes),
                               options_.compute.compression_params);
}

absl::Status Module::SaveCheckpoint(const std::string& prefix, int epoch,
                                    bool save_optimizer_states) const {
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, GetParams());
  COOPER_RETURN_IF_ERROR(
      cooper::SaveCheckpoint(prefix, epoch, symbol_, params.args, params.auxs, params.format));
  if (!save_optimizer_states) return absl::OkStatus();
  return SaveOptimizerStates(StatesPath(prefix, epoch));
}

absl::StatusOr<std::unique_ptr<Module>> Module::Load(const std::string& prefix, int epoch,
                                                     bool load_optimizer_states,
                                                     ModuleOptions options) {
  COOPER_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                          LoadCheckpoint(prefix, epoch, options.compute.load_limits));
  // A file of another kind is rejected here, before anything is bound.
  if (load_optimizer_states) {
    COOPER_RETURN_IF_ERROR(
        AddContext(CheckStatesFile(StatesPath(prefix, epoch)), "optimizer states"));
  }
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                          Create(checkpoint.symbol, std::move(options)));
  module->group_->parameters().Load({.args = std::move(checkpoint.args),
                                     .auxs = std::move(checkpoint.auxs),
                                     .format = std::move(checkpoint.format)});
  if (load_optimizer_states) {
    module->group_->learner().LoadOptimizerStatesLater(StatesPath(prefix, epoch));
  }
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

}  // namespace cooper
