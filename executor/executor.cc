#include "executor/executor.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/passes.h"
#include "executor/run/bound_arrays.h"
#include "executor/run/bound_program.h"
#include "executor/run/folded_arrays.h"
#include "executor/run/grad_order.h"
#include "executor/run/program_arrays.h"
#include "executor/run/program_monitor.h"
#include "executor/run/program_steps.h"
#include "executor/run/program_text.h"
#include "executor/run/reshape_options.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

using Kind = ProgramBuffer::Kind;

namespace {

// Returns `ahead` if it is what compiling `symbol` with `options` would give, and compiles `symbol`
// otherwise. `options` has no unused arrays.
absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompileUnless(
    std::shared_ptr<const CompiledProgram> ahead, const Symbol& symbol,
    const BindOptions& options) {
  const CompileOptions compile = CompileOptionsOf(symbol, options);
  if (ahead != nullptr && ahead->IsFor(symbol, compile)) return ahead;
  return CompiledProgram::Compile(symbol, compile);
}

}  // namespace

Executor::Executor(std::unique_ptr<BoundProgram> merged)
    : compiled_(merged->steps().shared_program()), merged_(std::move(merged)), run_(merged_.get()) {
  const Program& program = compiled_->program();
  const ProgramSteps& steps = merged_->steps();
  for (size_t i = 0; i < program.arg_names.size(); ++i) {
    const NDArray& array = steps.arrays(Kind::kArg)[i];
    if (array.is_null()) {
      unbound_args_.insert(program.arg_names[i]);
    } else {
      args_.emplace(program.arg_names[i], array);
    }
  }
  for (size_t i = 0; i < program.aux_names.size(); ++i) {
    auxs_.emplace(program.aux_names[i], steps.arrays(Kind::kAux)[i]);
    const bool constant = compiled_->options().constants.contains(program.aux_names[i]);
    if (program.gradients.empty() && constant) constant_state_ = program.aux_names[i];
  }
  for (const ProgramGradient& gradient : program.gradients) {
    grads_.emplace(program.arg_names[gradient.arg], steps.array(Kind::kGrad, gradient.arg));
  }
  for (const std::string& name : program.arg_names) {
    if (grads_.contains(name)) grad_names_.push_back(name);
  }
  output_names_ = symbol().ListOutputs();
  for (int output : program.outputs) output_shapes_.push_back(program.values[output].shape);
}

Executor::~Executor() = default;

absl::StatusOr<std::shared_ptr<const CompiledProgram>> Executor::Compile(
    const Symbol& symbol, const BindOptions& options,
    std::shared_ptr<const CompiledProgram> ahead) {
  BindOptions used = options;
  COOPER_RETURN_IF_ERROR(ExtractUnusedArrays(symbol, used).status());
  return CompileUnless(std::move(ahead), symbol, used);
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Bind(
    std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
    std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random) {
  COOPER_ASSIGN_OR_RETURN(auto bound, BoundProgram::Bind(std::move(compiled), std::move(arrays),
                                                         std::move(arenas), std::move(random)));
  return std::unique_ptr<Executor>(new Executor(std::move(bound)));
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::SimpleBind(
    const Symbol& symbol, const BindOptions& options,
    std::shared_ptr<const CompiledProgram> compiled) {
  BindOptions used = options;
  COOPER_ASSIGN_OR_RETURN(std::vector<std::string> unused, ExtractUnusedArrays(symbol, used));
  COOPER_ASSIGN_OR_RETURN(compiled, CompileUnless(std::move(compiled), symbol, used));
  COOPER_RETURN_IF_ERROR(CheckBytes(*compiled, used));
  COOPER_RETURN_IF_ERROR(BindFolded(*compiled, used));
  COOPER_ASSIGN_OR_RETURN(ProgramArrays arrays, BindArrays(*compiled, used));
  std::vector<std::shared_ptr<Arena>> arenas = ArenasOf(compiled->program().contexts, used);
  COOPER_ASSIGN_OR_RETURN(auto executor, Bind(std::move(compiled), std::move(arrays),
                                              std::move(arenas), std::move(used.random)));
  executor->unused_names_ = std::move(unused);
  executor->folded_ = std::move(used.folded);
  executor->max_bytes_ = used.max_bytes;
  return executor;
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Bind(const Symbol& symbol,
                                                         BindOptions options) {
  const absl::Status required = RequireArrays(symbol, options);
  if (!required.ok()) {
    COOPER_RETURN_IF_ERROR(
        ExtractUnusedArrays(symbol, options).status());  // finds misspelt names of missing arrays
    return required;
  }
  return SimpleBind(symbol, options);
}

absl::Status Executor::SetArg(absl::string_view name, const NDArray& array) {
  const auto& names = arg_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) {
    return absl::NotFoundError(absl::StrCat("SetArg: '", name,
                                            "' is not an argument; the arguments are ",
                                            JoinNames(names), DidYouMean(name, names)));
  }
  return SetArg(static_cast<int>(it - names.begin()), array);
}

absl::Status Executor::SetArg(int slot, const NDArray& array) {
  const int num_args = static_cast<int>(arg_names().size());
  if (slot < 0 || slot >= num_args) {
    return absl::NotFoundError(absl::StrCat("SetArg: there is no argument ", slot,
                                            "; the executor has ", num_args, ", counted from 0"));
  }
  const std::string& name = arg_names()[slot];
  COOPER_RETURN_IF_ERROR(AddContext(CheckReplaceable(name), "SetArg"));
  COOPER_RETURN_IF_ERROR(merged_->SetArg(slot, array));
  if (plain_ != nullptr) COOPER_RETURN_IF_ERROR(plain_->SetArg(slot, array));
  args_[name] = array;
  return absl::OkStatus();
}

absl::Status Executor::CheckReplaceable(const std::string& name) const {
  // Values computed from constants would be wrong after a change: executors that share them do not
  // compute them again, and the program for monitors, which has none, would differ.
  const auto is_name = [&](const FoldedConstant& folded) { return folded.name == name; };
  if (!compiled_->options().constants.contains(name) &&
      absl::c_none_of(compiled_->folded(), is_name)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", name, "' is one of the constants that the executor is bound with, which stay"));
}

bool Executor::Overwrites(const NDArray& array) const { return merged_->Overwrites(array); }
bool Executor::TakesOutput(int i) const { return merged_->TakesOutput(i); }

absl::Status Executor::SetOutput(int i, const NDArray& array) {
  COOPER_RETURN_IF_ERROR(merged_->SetOutput(i, array));
  if (plain_ == nullptr || !plain_->TakesOutput(i)) return absl::OkStatus();
  return plain_->SetOutput(i, array);
}

void Executor::SetMonitorCallback(MonitorCallback callback, bool monitor_all) {
  observer_ = nullptr;
  if (callback == nullptr) return;
  observer_ = std::make_shared<const ProgramObserver>(MonitorOf(std::move(callback), monitor_all));
}

absl::Status Executor::SelectProgram() {
  const bool wants_plain = observer_ != nullptr && compiled_->merges_nodes();
  if (wants_plain && plain_ == nullptr) {
    CompileOptions options = compiled_->options();
    options.disabled_passes = WithoutMergingPasses(std::move(options.disabled_passes));
    COOPER_ASSIGN_OR_RETURN(auto program, CompiledProgram::Compile(symbol(), options));
    // Slots are in the order of the symbol's variables, the same in both programs; behind them are
    // constants that only one of them has.
    const ProgramSteps& steps = merged_->steps();
    const size_t num_args = program->arg_shapes().size();
    ProgramArrays arrays{.args = steps.arrays(Kind::kArg),
                         .auxs = steps.arrays(Kind::kAux),
                         .grads = steps.arrays(Kind::kGrad)};
    arrays.args.resize(num_args);
    arrays.grads.resize(num_args);
    COOPER_ASSIGN_OR_RETURN(plain_, BoundProgram::Bind(std::move(program), std::move(arrays),
                                                       steps.arenas(), merged_->random()));
    for (int i = 0; i < static_cast<int>(output_names_.size()); ++i) {
      if (!merged_->TakesOutput(i) || !plain_->TakesOutput(i)) continue;
      COOPER_RETURN_IF_ERROR(plain_->SetOutput(i, steps.array(Kind::kOutput, i)));
    }
  }
  run_ = wants_plain ? plain_.get() : merged_.get();
  return absl::OkStatus();
}

absl::Status Executor::Forward(bool is_train) {
  if (is_train && !constant_state_.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("Forward: is_train is true, but the executor is bound with auxiliary state '",
                     constant_state_, "' as a constant, to predict alone"));
  }
  COOPER_RETURN_IF_ERROR(SelectProgram());
  const auto observer = observer_;
  return run_->Forward(is_train, observer.get());
}

absl::Status Executor::Backward(absl::Span<const NDArray> head_gradients) {
  const auto observer = observer_;
  return run_->Backward(head_gradients, observer.get());
}

absl::Status Executor::ForwardBackward(absl::Span<const NDArray> head_gradients,
                                       const AfterBackward* after) {
  COOPER_RETURN_IF_ERROR(SelectProgram());
  const auto observer = observer_;
  return run_->ForwardBackward(head_gradients, observer.get(), after);
}

absl::Status Executor::Backward(absl::Span<const NDArray> head_gradients, GradCallback on_grad) {
  // If the graph as written ran forward, before its monitor was removed, grads_done_ does not
  // number its instructions.
  if (observer_ != nullptr || run_ != merged_.get()) return Backward(head_gradients);
  if (grads_done_.empty()) grads_done_ = GradsDoneAfter(*compiled_);
  absl::Status status;
  const auto tell = [&](const ProgramSteps& steps, int instruction) {
    const Program& p = steps.program();
    for (const int g : grads_done_[instruction]) {
      const std::string& name = p.arg_names[p.gradients[g].arg];
      const int context = p.instructions[instruction].context;
      status.Update(on_grad(name, *steps.arenas()[context]->queue()));
    }
  };
  const ProgramObserver observer{.before = nullptr, .after = tell};
  COOPER_RETURN_IF_ERROR(run_->Backward(head_gradients, &observer));
  return status;
}

absl::StatusOr<absl::Span<const NDArray>> Executor::outputs() const { return run_->outputs(); }

absl::Status Executor::CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs,
                                      bool allow_extra) {
  const auto copy = [&](const ArrayMap& from, const ArrayMap& to,
                        const char* kind) -> absl::Status {
    for (const auto& [name, array] : from) {
      COOPER_RETURN_IF_ERROR(CheckReplaceable(name));
      const NDArray target = FindArray(to, name);
      if (target.is_null()) {
        if (allow_extra) continue;
        return absl::NotFoundError(
            absl::StrCat("the executor has no ", kind, " '", name, "', or none with an array yet"));
      }
      COOPER_RETURN_IF_ERROR(AddContext(target.CopyFrom(array), kind, " '", name, "'"));
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(copy(args, args_, "argument"));
  return copy(auxs, auxs_, "auxiliary state");
}

BindOptions Executor::BoundOptions() const {
  BindOptions options = BindOptionsOf(compiled_->options());
  options.args = args_;
  options.grads = grads_;
  options.auxs = auxs_;
  for (const FoldedConstant& folded : compiled_->folded()) options.args.erase(folded.name);
  options.unbound_args = unbound_args_;
  options.folded = folded_;
  options.max_bytes = max_bytes_;
  options.random = merged_->random();
  for (const auto& arena : merged_->steps().arenas()) {
    options.group_arenas[arena->context()] = arena;
  }
  options.arena = options.group_arenas.at(context());
  return options;
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Reshape(const KnownShapes& shapes,
                                                            bool partial_shaping,
                                                            bool allow_up_sizing) const {
  COOPER_ASSIGN_OR_RETURN(
      const BindOptions options,
      ReshapeOptions(symbol(), BoundOptions(), shapes, partial_shaping, allow_up_sizing));
  // SimpleBind compiles the symbol if the new shapes do not fit the plan.
  auto resized = compiled_->Resize(shapes);
  COOPER_ASSIGN_OR_RETURN(
      std::unique_ptr<Executor> executor,
      SimpleBind(symbol(), options, resized.ok() ? *std::move(resized) : nullptr));
  executor->unused_names_ = unused_names_;
  return executor;
}

MemoryReport Executor::memory() const {
  MemoryReport report = PlannedMemory(run_->compiled());
  for (const auto& arena : run_->steps().arenas()) report.arena_bytes += arena->bytes();
  return report;
}

std::string Executor::DebugString() const {
  const MemoryReport report = memory();
  return absl::StrCat(ProgramText(run_->compiled()), "planned ", report.planned_bytes,
                      " bytes, lower bound ", report.lower_bound, ", arena ", report.arena_bytes,
                      "\n");
}

int Executor::num_recorded() const { return run_->steps().num_recorded(); }

}  // namespace cooper
