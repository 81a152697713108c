#include "executor/executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/bound_arrays.h"
#include "executor/run/folded_arrays.h"
#include "executor/run/monitored_run.h"
#include "executor/run/program_text.h"
#include "executor/run/reshape_options.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

struct Executor::Impl {
  absl::Status Bind(std::shared_ptr<const CompiledProgram> ahead);

  Symbol symbol;
  BindOptions options;
  std::vector<std::string> unused_names;
  std::shared_ptr<const CompiledProgram> compiled;
  std::vector<std::shared_ptr<Arena>> arenas;  // by context of the program
  BoundArrays arrays;
  std::vector<std::string> grad_names;
  std::vector<std::string> output_names;
  std::vector<Shape> output_shapes;
  std::string constant_state;  // an auxiliary state among the constants; empty if there is none
  std::unique_ptr<MonitoredRun> run;
};

absl::Status Executor::Impl::Bind(std::shared_ptr<const CompiledProgram> ahead) {
  COOPER_ASSIGN_OR_RETURN(unused_names, TakeUnusedArrays(symbol, options));
  if (options.arena == nullptr) options.arena = std::make_shared<Arena>(options.context);
  if (options.random == nullptr) {
    options.random = std::make_shared<RandomState>(RandomState{.seed = DefaultSeed()});
  }
  if (!(options.arena->context() == options.context)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the arena is on ", options.arena->context().ToString(), ", the executor on ",
                     options.context.ToString()));
  }
  const CompileOptions compile = CompileOptionsOf(symbol, options);
  if (ahead != nullptr && ahead->IsFor(symbol, compile)) {
    compiled = std::move(ahead);
  } else {
    COOPER_ASSIGN_OR_RETURN(compiled, CompiledProgram::Compile(symbol, compile));
  }
  const Program& program = compiled->program();
  COOPER_RETURN_IF_ERROR(CheckBytes(*compiled, options));
  COOPER_RETURN_IF_ERROR(BindFolded(*compiled, options));
  COOPER_ASSIGN_OR_RETURN(arrays, BindArrays(*compiled, options));
  for (const std::string& name : program.arg_names) {
    if (arrays.grads.contains(name)) grad_names.push_back(name);
  }
  for (int output : program.outputs) output_shapes.push_back(program.values[output].shape);
  for (const std::string& name : program.aux_names) {
    if (program.gradients.empty() && options.constants.contains(name)) constant_state = name;
  }
  output_names = symbol.ListOutputs();
  arenas = ArenasOf(program.contexts, options);
  COOPER_ASSIGN_OR_RETURN(
      run, MonitoredRun::Create(compiled, arrays.Of(program), arenas, options.random));
  return absl::OkStatus();
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::SimpleBind(
    const Symbol& symbol, const BindOptions& options,
    std::shared_ptr<const CompiledProgram> compiled) {
  auto impl = std::make_unique<Impl>();
  impl->symbol = symbol;
  impl->options = options;
  COOPER_RETURN_IF_ERROR(impl->Bind(std::move(compiled)));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> Executor::Compile(
    const Symbol& symbol, const BindOptions& options) {
  BindOptions used = options;
  COOPER_RETURN_IF_ERROR(TakeUnusedArrays(symbol, used).status());
  return CompiledProgram::Compile(symbol, CompileOptionsOf(symbol, used));
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Bind(const Symbol& symbol,
                                                         BindOptions options) {
  const absl::Status required = RequireArrays(symbol, options);
  if (!required.ok()) {
    COOPER_RETURN_IF_ERROR(
        TakeUnusedArrays(symbol, options).status());  // what is missing, misspelt
    return required;
  }
  return SimpleBind(symbol, options);
}

absl::Status Executor::SetArg(absl::string_view name, const NDArray& array) {
  const auto& names = arg_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) {
    return absl::NotFoundError(absl::StrCat("SetArg: '", name, "' is no argument; those are ",
                                            JoinNames(names), DidYouMean(name, names)));
  }
  COOPER_RETURN_IF_ERROR(AddContext(impl_->arrays.CheckMayChange(*it), "SetArg"));
  const auto slot = static_cast<int>(it - names.begin());
  COOPER_RETURN_IF_ERROR(impl_->run->SetArg(slot, array));
  impl_->arrays.args[*it] = array;
  return absl::OkStatus();
}

bool Executor::Overwrites(const NDArray& array) const { return impl_->run->Overwrites(array); }
bool Executor::TakesOutput(int i) const { return impl_->run->TakesOutput(i); }
absl::Status Executor::SetOutput(int i, const NDArray& array) {
  return impl_->run->SetOutput(i, array);
}

absl::Status Executor::Forward(bool is_train) {
  if (is_train && !impl_->constant_state.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("Forward: is_train is true, but the executor is bound with auxiliary state '",
                     impl_->constant_state, "' as a constant, to predict alone"));
  }
  return impl_->run->Forward(is_train);
}

absl::Status Executor::Backward(absl::Span<const NDArray> head_gradients) {
  return impl_->run->Backward(head_gradients);
}

absl::Status Executor::ForwardBackward(absl::Span<const NDArray> head_gradients,
                                       const AfterBackward* after) {
  return impl_->run->ForwardBackward(head_gradients, after);
}

absl::Status Executor::Backward(absl::Span<const NDArray> head_gradients, GradCallback on_grad) {
  return impl_->run->Backward(head_gradients, on_grad);
}

absl::StatusOr<absl::Span<const NDArray>> Executor::outputs() const {
  return impl_->run->run().outputs();
}

absl::Status Executor::CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs,
                                      bool allow_extra) {
  return impl_->arrays.CopyFrom(args, auxs, allow_extra);
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Reshape(const KnownShapes& shapes,
                                                            bool partial_shaping,
                                                            bool allow_up_sizing) const {
  BindOptions bound = impl_->options;
  bound.args = impl_->arrays.args;
  bound.grads = impl_->arrays.grads;
  bound.auxs = impl_->arrays.auxs;
  for (const FoldedConstant& folded : impl_->compiled->folded()) bound.args.erase(folded.name);
  COOPER_ASSIGN_OR_RETURN(
      const BindOptions options,
      ReshapeOptions(impl_->symbol, std::move(bound), shapes, partial_shaping, allow_up_sizing));
  // What does not fit the plan is compiled.
  auto resized = impl_->compiled->Resize(shapes);
  COOPER_ASSIGN_OR_RETURN(
      std::unique_ptr<Executor> executor,
      SimpleBind(impl_->symbol, options, resized.ok() ? *std::move(resized) : nullptr));
  executor->impl_->unused_names = impl_->unused_names;
  return executor;
}

void Executor::SetMonitorCallback(MonitorCallback callback, bool monitor_all) {
  impl_->run->SetMonitor(std::move(callback), monitor_all);
}

MemoryReport Executor::memory() const {
  MemoryReport report = PlannedMemory(impl_->run->run().compiled());
  for (const auto& arena : impl_->arenas) report.arena_bytes += arena->bytes();
  return report;
}

std::string Executor::DebugString() const {
  const MemoryReport report = memory();
  return absl::StrCat(ProgramText(impl_->run->run().bound()), "planned ", report.planned_bytes,
                      " bytes, lower bound ", report.lower_bound, ", arena ", report.arena_bytes,
                      "\n");
}

const std::vector<std::string>& Executor::output_names() const { return impl_->output_names; }
const std::vector<Shape>& Executor::output_shapes() const { return impl_->output_shapes; }
const std::vector<std::string>& Executor::arg_names() const {
  return impl_->compiled->program().arg_names;
}
const std::vector<Shape>& Executor::arg_shapes() const { return impl_->compiled->arg_shapes(); }
const std::vector<DType>& Executor::arg_types() const { return impl_->compiled->arg_types(); }
const std::vector<Context>& Executor::arg_contexts() const {
  return impl_->compiled->arg_contexts();
}
const std::vector<std::string>& Executor::unused_names() const { return impl_->unused_names; }
const std::vector<std::string>& Executor::aux_names() const {
  return impl_->compiled->program().aux_names;
}
const std::vector<std::string>& Executor::grad_names() const { return impl_->grad_names; }
const ArrayMap& Executor::arg_dict() const { return impl_->arrays.args; }
const ArrayMap& Executor::grad_dict() const { return impl_->arrays.grads; }
const ArrayMap& Executor::aux_dict() const { return impl_->arrays.auxs; }
NDArray Executor::arg(absl::string_view name) const { return FindArray(impl_->arrays.args, name); }
NDArray Executor::grad(absl::string_view name) const {
  return FindArray(impl_->arrays.grads, name);
}
NDArray Executor::aux(absl::string_view name) const { return FindArray(impl_->arrays.auxs, name); }
const Symbol& Executor::symbol() const { return impl_->symbol; }
const std::shared_ptr<const CompiledProgram>& Executor::compiled() const { return impl_->compiled; }
int Executor::num_recorded() const { return impl_->run->run().bound().num_recorded(); }
Context Executor::context() const { return impl_->options.context; }

}  // namespace cooper
