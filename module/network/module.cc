#include "module/network/module.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/network/bind_errors.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"
#include "symbol/ops/loss/label_probabilities.h"

namespace cooper {
namespace {

// Sets of shapes that stay bound, so that a smaller last batch or a validation batch does not cost
// a bind each time.
constexpr size_t kMaxBoundShapes = 8;

// Whether two lists of inputs give the same executor. Layouts do not matter.
bool SameShapes(const std::vector<DataDesc>& a, const std::vector<DataDesc>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DataDesc& x, const DataDesc& y) {
                      return x.name == y.name && x.shape == y.shape && x.dtype == y.dtype;
                    });
}

// Whether no input is larger than the bound one of the same name.
bool FitsIn(const std::vector<DataDesc>& descs, const std::vector<DataDesc>& bound) {
  return absl::c_all_of(descs, [&](const DataDesc& desc) {
    return absl::c_none_of(bound, [&](const DataDesc& other) {
      return other.name == desc.name && desc.shape.num_elements() > other.shape.num_elements();
    });
  });
}

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
                                       : std::make_shared<ModuleGroup>(options_.compute.contexts)) {
  VariableNames names = symbol.ListVariables();
  arg_names_ = std::move(names.args);
  aux_names_ = std::move(names.auxs);
  param_names_ = ParamNames(arg_names_, options_);
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

const std::vector<DataDesc>& Module::data_shapes() const {
  if (evaluated_) return evaluator_->data_shapes();
  return bound_.empty() ? bind_options_.data_shapes : bound_.front()->data_shapes();
}

const std::vector<DataDesc>& Module::label_shapes() const {
  if (evaluated_) return evaluator_->label_shapes();
  return bound_.empty() ? bind_options_.label_shapes : bound_.front()->label_shapes();
}

std::vector<std::pair<std::string, Shape>> Module::output_shapes() const {
  if (evaluated_) return evaluator_->output_shapes();
  std::vector<std::pair<std::string, Shape>> shapes;
  if (bound_.empty()) return shapes;
  for (size_t i = 0; i < executor()->output_names().size(); ++i) {
    shapes.emplace_back(executor()->output_names()[i], bound_.front()->output_shapes()[i]);
  }
  return shapes;
}

std::vector<BatchLayout> Module::output_layouts() const {
  if (evaluated_) return evaluator_->output_layouts();
  return bound_.empty() ? std::vector<BatchLayout>() : bound_.front()->output_layouts();
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
  COOPER_RETURN_IF_ERROR(CheckLabelNames(options));
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
    ParameterStore& parameters = group_->parameters();
    ParameterStore::Rollback rollback(parameters);
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
  COOPER_ASSIGN_OR_RETURN(auto bound, BindGroup(options.data_shapes, options.label_shapes));
  COOPER_RETURN_IF_ERROR(group_->parameters().ApplyLoaded());
  // On a first Bind, other modules of the group may be accumulating gradients.
  if (binded_) COOPER_RETURN_IF_ERROR(group_->parameters().ZeroGrads());
  bound_.clear();
  bound_.push_back(std::move(bound));
  names_of_ = nullptr;
  evaluator_ = nullptr;
  evaluated_ = false;
  accumulated_names_.clear();
  for (const std::string& name : param_names_) {
    if (GradReqOf(name, options_, bind_options_) == WriteReq::kAdd)
      accumulated_names_.push_back(name);
  }
  binded_ = true;
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  grad_req_ = options.grad_req;
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
  if (options_.compute.contexts.size() > 1 || !options_.compute.group2ctxs.empty()) {
    return absl::UnimplementedError("Compile: expected one context, and no group2ctxs");
  }
  ModuleBindOptions options = given;
  if (options_.label_names.empty()) options.label_shapes.clear();
  COOPER_RETURN_IF_ERROR(CheckDescs(options));
  return DataParallelExecutorGroup::Compile(bound_symbol_, options_, options, group_.get());
}

void Module::CompileAhead(const ModuleBindOptions& options) {
  const ScopedProfile profile(ProfileCategory::kStep, "bind");
  auto compiled = Compile(options);
  if (compiled.ok()) compiled_ = *std::move(compiled);
}

std::shared_ptr<const CompiledProgram> Module::ResizeBound(
    const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes) const {
  if (options_.compute.contexts.size() > 1) return nullptr;
  const KnownShapes shapes = ShapesOfInputs(arg_names_, data_shapes, label_shapes);
  for (const auto& bound : bound_) {
    // A larger batch needs a larger plan; skipping it here saves inferring its shapes.
    if (!FitsIn(data_shapes, bound->data_shapes()) ||
        !FitsIn(label_shapes, bound->label_shapes())) {
      continue;
    }
    auto resized = bound->compiled()->Resize(shapes);
    if (resized.ok()) return *std::move(resized);
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<DataParallelExecutorGroup>> Module::BindGroup(
    const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes) {
  const ScopedProfile profile(ProfileCategory::kStep, "bind");
  std::shared_ptr<const CompiledProgram> compiled = std::move(compiled_);
  if (compiled == nullptr) compiled = ResizeBound(data_shapes, label_shapes);
  auto made = DataParallelExecutorGroup::Bind(bound_symbol_, options_,
                                              BindOptionsFor(data_shapes, label_shapes),
                                              group_.get(), std::move(compiled));
  if (!made.ok()) {
    // The caller knows the shapes that it gave better than the node that they do not fit.
    return AddContext(
        ExplainUnknownShapes(made.status(), symbol_,
                             ShapesOfInputs(arg_names_, data_shapes, label_shapes), options_),
        "bound to ", DescsToString(data_shapes), label_shapes.empty() ? "" : ", ",
        DescsToString(label_shapes));
  }
  std::unique_ptr<DataParallelExecutorGroup> bound = *std::move(made);
  if (monitor_) bound->SetMonitorCallback(monitor_, monitor_all_);
  COOPER_RETURN_IF_ERROR(
      group_->parameters().Complete(param_names_, aux_names_, symbol_.VariableAttrDict()));
  return bound;
}

absl::Status Module::UseShapes(const std::vector<DataDesc>& data_shapes,
                               const std::vector<DataDesc>& label_shapes) {
  for (size_t i = 0; i < bound_.size(); ++i) {
    if (SameShapes(bound_[i]->data_shapes(), data_shapes) &&
        SameShapes(bound_[i]->label_shapes(), label_shapes)) {
      std::rotate(bound_.begin(), bound_.begin() + i, bound_.begin() + i + 1);
      return absl::OkStatus();
    }
  }
  ParameterStore::Rollback rollback(group_->parameters());
  COOPER_ASSIGN_OR_RETURN(auto bound, BindGroup(data_shapes, label_shapes));
  rollback.Commit();
  bound_.insert(bound_.begin(), std::move(bound));
  if (bound_.size() > kMaxBoundShapes) bound_.pop_back();
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
  for (auto& bound : bound_) bound->SetMonitorCallback(monitor_, monitor_all_);
  return evaluator_ == nullptr ? absl::OkStatus()
                               : evaluator_->InstallMonitor(monitor_, monitor_all_);
}

MemoryReport Module::memory() const {
  return bound_.empty() ? MemoryReport() : bound_.front()->memory();
}

MemoryReport Module::evaluation_memory() const {
  return evaluator_ == nullptr ? MemoryReport() : evaluator_->memory();
}

int64_t Module::footprint_bytes() const {
  int64_t bytes = evaluator_ == nullptr ? 0 : evaluator_->footprint_bytes();
  for (const auto& bound : bound_) bytes += bound->footprint_bytes();
  return bytes;
}

}  // namespace cooper
