#include "executor/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/bound_arrays.h"
#include "executor/compile/graph_passes/graph_passes.h"
#include "executor/compile/lower.h"
#include "executor/compile/program_passes/program_passes.h"
#include "executor/lowered_symbol.h"
#include "executor/program.h"
#include "executor/reshape_options.h"
#include "executor/run/bound_program.h"
#include "executor/run/program_monitor.h"
#include "executor/run/program_text.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Keeps the streams of replicas apart for seeds that are near each other: 2^64 / golden ratio.
constexpr uint64_t kReplicaStride = 0x9E3779B97F4A7C15;

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const GraphPass& pass : AllGraphPasses()) names.emplace_back(pass.name);
  for (const Pass& pass : AllPasses()) {
    if (!pass.required) names.emplace_back(pass.name);
  }
  return names;
}

class Executor::Impl final : public ArenaUser {
 public:
  static constexpr int64_t kNoGeneration = -2;  // no BoundProgram has it

  Impl(const Symbol& symbol, const BindOptions& options) : symbol_(symbol), options_(options) {}
  ~Impl() { ReleaseArenas(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status Bind(std::shared_ptr<Lowered> ahead) {
    if (options_.arena == nullptr) options_.arena = std::make_shared<Arena>(options_.context);
    if (options_.random == nullptr) options_.random = std::make_shared<RandomState>();
    if (!(options_.arena->context() == options_.context)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the arena is on ", options_.arena->context().ToString(),
                       ", the executor on ", options_.context.ToString()));
    }
    LoweredProgram lowered;
    if (ahead != nullptr && ahead->StillHolds(symbol_, options_)) {
      lowered = std::move(ahead->result);
    } else {
      COOPER_ASSIGN_OR_RETURN(lowered, LowerSymbol(symbol_, options_, options_.disabled_passes));
    }
    ahead = nullptr;
    rewritten_ = lowered.rewritten ||
                 absl::c_any_of(lowered.program.instructions, [](const Instruction& instruction) {
                   return instruction.tiles >= 0 || instruction.again;
                 });
    COOPER_ASSIGN_OR_RETURN(arrays_, BindArrays(lowered, options_));
    for (const std::string& name : lowered.program.arg_names) {
      if (arrays_.grads.contains(name)) grad_names_.push_back(name);
      if (!arrays_.args.contains(name)) ++num_unset_;
    }
    for (int output : lowered.program.outputs) {
      output_shapes_.push_back(lowered.program.values[output].shape);
    }
    output_names_ = symbol_.ListOutputs();
    arg_shapes_ = lowered.arg_shapes;
    arg_types_ = lowered.arg_types;
    arg_contexts_ = lowered.arg_contexts;
    MakeArenas(lowered.program);
    outputs_.reserve(output_shapes_.size());
    return BindProgram(std::move(lowered.program));
  }

  absl::Status BindProgram(Program program) {
    outputs_may_move_ = false;
    for (int output : program.outputs) {
      const ProgramBuffer& buffer = program.buffers[program.values[output].buffer];
      if (buffer.kind != ProgramBuffer::Kind::kArena) outputs_may_move_ = true;
    }
    FindOutputsOfBackward(program);
    ProgramArrays arrays = arrays_.Of(program);
    COOPER_ASSIGN_OR_RETURN(bound_,
                            BoundProgram::Create(std::move(program), std::move(arrays), arenas_));
    return absl::OkStatus();
  }

  void FindOutputsOfBackward(const Program& program) {
    output_of_backward_ = -1;
    const std::vector<int> producers = program.Producers();
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      const int producer = producers[program.outputs[i]];
      if (producer < 0 || !program.instructions[producer].left_to_gradient) continue;
      output_of_backward_ = static_cast<int>(i);
    }
  }

  // Who monitors a graph wants to see its nodes, not what passes have made of them: while
  // there is a monitor, the graph runs as it was written.
  absl::Status FollowMonitor() {
    const bool wants_plain = monitor_ != nullptr && rewritten_;
    if (wants_plain == is_plain_) return absl::OkStatus();
    const std::set<std::string>& disabled = options_.disabled_passes;
    COOPER_ASSIGN_OR_RETURN(
        LoweredProgram lowered,
        LowerSymbol(symbol_, options_, wants_plain ? WithoutRewriting(disabled) : disabled));
    ForgetOutputs();
    COOPER_RETURN_IF_ERROR(BindProgram(std::move(lowered.program)));
    is_plain_ = wants_plain;
    return absl::OkStatus();
  }

  void MakeArenas(const Program& program) {
    arenas_ = {options_.arena};
    for (size_t i = 1; i < program.contexts.size(); ++i) {
      std::shared_ptr<Arena>& arena = options_.group_arenas[program.contexts[i]];
      if (arena == nullptr) arena = std::make_shared<Arena>(program.contexts[i]);
      arenas_.push_back(arena);
    }
  }

  void UseArenas() {
    for (const auto& arena : arenas_) arena->Use(this);
  }
  void ReleaseArenas() {
    for (const auto& arena : arenas_) arena->Release(this);
  }

  // Of an argument; -1 if there is none of that name.
  int SlotOf(absl::string_view name) const {
    const auto& names = bound_->program().arg_names;
    const auto it = std::find(names.begin(), names.end(), name);
    return it == names.end() ? -1 : static_cast<int>(it - names.begin());
  }

  absl::Status SetArg(absl::string_view name, const NDArray& array) {
    const auto& names = bound_->program().arg_names;
    const int slot = SlotOf(name);
    if (slot < 0) {
      return absl::NotFoundError(absl::StrCat("SetArg: '", name, "' is no argument; those are ",
                                              absl::StrJoin(names, ", ")));
    }
    if (array.is_null() || array.shape() != arg_shapes_[slot] ||
        array.dtype() != arg_types_[slot] || !SharesMemory(array.context(), arg_contexts_[slot])) {
      return absl::InvalidArgumentError(
          absl::StrCat("SetArg: argument '", name, "' takes ", arg_shapes_[slot].ToString(), " ",
                       DTypeName(arg_types_[slot]), " ", arg_contexts_[slot].ToString(), ", got ",
                       array.ToString()));
    }
    if (bound_->arg(slot).is_null()) --num_unset_;
    bound_->SetArg(slot, array);
    arrays_.args[names[slot]] = array;
    return absl::OkStatus();
  }

  absl::Status CheckArgsSet() const {
    if (num_unset_ == 0) return absl::OkStatus();
    const auto& names = bound_->program().arg_names;
    for (size_t i = 0; i < names.size(); ++i) {
      if (bound_->arg(static_cast<int>(i)).is_null()) {
        return absl::FailedPreconditionError(
            absl::StrCat("Forward: argument '", names[i], "' has no array; call SetArg first"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Forward(bool is_train) {
    COOPER_RETURN_IF_ERROR(FollowMonitor());
    COOPER_RETURN_IF_ERROR(CheckArgsSet());
    UseArenas();
    ran_training_ = false;
    absl::Status status = RunForward(is_train);
    if (!status.ok()) {
      // What the arena holds now are no outputs.
      ReleaseArenas();
      ForgetOutputs();
      return status;
    }
    arena_lost_ = false;
    ran_training_ = is_train;
    waits_for_backward_ = is_train && output_of_backward_ >= 0;
    return absl::OkStatus();
  }

  absl::Status RunForward(bool is_train) {
    COOPER_RETURN_IF_ERROR(bound_->Refresh());
    if (outputs_generation_ != bound_->generation() || outputs_may_move_) {
      ForgetOutputs();
      for (int output : bound_->program().outputs) {
        COOPER_ASSIGN_OR_RETURN(NDArray array, bound_->ArrayOf(output));
        outputs_.push_back(std::move(array));
      }
      outputs_generation_ = bound_->generation();
    }
    run_ = options_.random->runs++;
    seed_ = options_.random->seed + options_.random->replica * kReplicaStride;
    return bound_->RunForward(is_train, seed_, run_, observer());
  }

  void ForgetOutputs() {
    outputs_.clear();
    outputs_generation_ = kNoGeneration;
  }

  void LoseArena() override {
    ForgetOutputs();
    arena_lost_ = true;
  }

  absl::Status Backward(absl::Span<const NDArray> head_gradients) {
    const Program& p = bound_->program();
    if (p.gradients.empty()) {
      return absl::FailedPreconditionError(
          "Backward: the executor was bound without gradients; bind it with a grad_req");
    }
    if (!ran_training_) {
      return absl::FailedPreconditionError(
          "Backward: call Forward(is_train=true) first, once for each Backward");
    }
    COOPER_RETURN_IF_ERROR(CheckCurrent("Backward"));
    if (!head_gradients.empty() && head_gradients.size() != p.outputs.size()) {
      return absl::InvalidArgumentError(absl::StrCat("Backward: ", head_gradients.size(),
                                                     " head gradients for ", p.outputs.size(),
                                                     " outputs"));
    }
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      if (p.head_gradients[i] < 0) continue;
      const ProgramValue& value = p.values[p.head_gradients[i]];
      NDArray head = i < head_gradients.size() ? head_gradients[i] : NDArray();
      if (head.is_null()) {
        COOPER_ASSIGN_OR_RETURN(const bool needed, NeedsHeadGradient(i));
        if (needed) {
          return absl::FailedPreconditionError(absl::StrCat(
              "Backward: output '", output_names_[i],
              "' is no loss and needs a head gradient of shape ", output_shapes_[i].ToString()));
        }
        COOPER_ASSIGN_OR_RETURN(head, NDArray::Zeros(value.shape, value.dtype,
                                                     p.contexts[p.buffers[value.buffer].context]));
      }
      const Context context = p.contexts[p.buffers[value.buffer].context];
      if (head.shape() != value.shape || head.dtype() != value.dtype ||
          !SharesMemory(head.context(), context)) {
        return absl::InvalidArgumentError(
            absl::StrCat("Backward: the head gradient of output '", output_names_[i], "' is ",
                         head.ToString(), ", expected ", value.shape.ToString(), " ",
                         DTypeName(value.dtype), " ", context.ToString()));
      }
      bound_->SetHeadGradient(static_cast<int>(i), head);
    }
    // Values are overwritten after their last use: there is no second time.
    ran_training_ = false;
    COOPER_RETURN_IF_ERROR(bound_->RunBackward(seed_, run_, observer()));
    waits_for_backward_ = false;
    return absl::OkStatus();
  }

  // Whether the graph as it was written needs the head gradient of output `i`: what passes make of
  // several steps may take one where only some of the steps did.
  absl::StatusOr<bool> NeedsHeadGradient(size_t i) {
    if (!rewritten_ || is_plain_) return true;
    if (!plain_head_gradients_.has_value()) {
      COOPER_ASSIGN_OR_RETURN(
          const LoweredProgram plain,
          LowerSymbol(symbol_, options_, WithoutRewriting(options_.disabled_passes)));
      plain_head_gradients_ = plain.program.head_gradients;
    }
    return (*plain_head_gradients_)[i] >= 0;
  }

  // Fails unless the arena still holds what this executor left there.
  absl::Status CheckCurrent(const char* call) const {
    const bool current = std::all_of(arenas_.begin(), arenas_.end(),
                                     [this](const auto& arena) { return arena->user() == this; });
    if (current) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        call, ": ",
        arena_lost_ ? "another executor that shares the arena has run since the last Forward"
                    : "call Forward first"));
  }

  absl::StatusOr<absl::Span<const NDArray>> outputs() const {
    COOPER_RETURN_IF_ERROR(CheckCurrent("outputs"));
    if (waits_for_backward_) {
      return absl::FailedPreconditionError(
          absl::StrCat("outputs: in a training run output '", output_names_[output_of_backward_],
                       "' is computed by Backward; call it first"));
    }
    return absl::Span<const NDArray>(outputs_);
  }

  void SetMonitor(MonitorCallback callback, bool monitor_all) {
    monitor_ = std::move(callback);
    observer_ = {};
    if (!monitor_) return;
    observer_ = MonitorOf(monitor_, monitor_all);
  }

  const BoundProgram::Observer* observer() const { return monitor_ ? &observer_ : nullptr; }

  Symbol symbol_;
  BindOptions options_;
  std::unique_ptr<BoundProgram> bound_;
  BoundArrays arrays_;
  std::vector<std::string> grad_names_;
  std::vector<NDArray> outputs_;
  std::vector<std::string> output_names_;
  std::vector<Shape> output_shapes_;
  std::vector<Shape> arg_shapes_;
  std::vector<DType> arg_types_;
  std::vector<Context> arg_contexts_;
  std::vector<std::shared_ptr<Arena>> arenas_;  // by context of the program
  int num_unset_ = 0;                           // arguments without an array
  int64_t outputs_generation_ = kNoGeneration;
  bool outputs_may_move_ = false;  // some are the caller's arrays, which SetArg replaces
  bool arena_lost_ = false;
  bool rewritten_ = false;  // whether passes have put nodes together
  bool is_plain_ = false;   // whether bound_ is without them, for a monitor
  // By output, as written: negative where none is needed. Found out when first asked for.
  std::optional<std::vector<int>> plain_head_gradients_;
  uint64_t seed_ = 0;  // of the last Forward
  uint64_t run_ = 0;
  bool ran_training_ = false;
  int output_of_backward_ = -1;      // one that a training run's Backward computes, if there is one
  bool waits_for_backward_ = false;  // whether it is still to be computed
  MonitorCallback monitor_;
  BoundProgram::Observer observer_;
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::SimpleBind(const Symbol& symbol,
                                                               const BindOptions& options,
                                                               std::shared_ptr<Lowered> lowered) {
  auto impl = std::make_unique<Impl>(symbol, options);
  COOPER_RETURN_IF_ERROR(impl->Bind(std::move(lowered)));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

absl::StatusOr<std::shared_ptr<Executor::Lowered>> Executor::Lower(const Symbol& symbol,
                                                                   const BindOptions& options) {
  COOPER_ASSIGN_OR_RETURN(LoweredProgram result,
                          LowerSymbol(symbol, options, options.disabled_passes));
  return std::make_shared<Lowered>(
      Lowered{.symbol = symbol, .options = options, .result = std::move(result)});
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Bind(const Symbol& symbol,
                                                         BindOptions options) {
  for (const std::string& name : symbol.ListArguments()) {
    if (!options.args.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat("Bind: argument '", name, "' is missing"));
    }
    if (!options.grads.contains(name)) options.grad_reqs[name] = WriteReq::kNull;
  }
  for (const std::string& name : symbol.ListAuxiliaryStates()) {
    if (!options.auxs.contains(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Bind: auxiliary state '", name, "' is missing"));
    }
  }
  return SimpleBind(symbol, options);
}

absl::Status Executor::Forward(bool is_train) { return impl_->Forward(is_train); }

absl::Status Executor::Backward(absl::Span<const NDArray> head_gradients) {
  return impl_->Backward(head_gradients);
}

absl::StatusOr<absl::Span<const NDArray>> Executor::outputs() const { return impl_->outputs(); }
const std::vector<std::string>& Executor::output_names() const { return impl_->output_names_; }
const std::vector<Shape>& Executor::output_shapes() const { return impl_->output_shapes_; }
const std::vector<std::string>& Executor::arg_names() const {
  return impl_->bound_->program().arg_names;
}
const std::vector<Shape>& Executor::arg_shapes() const { return impl_->arg_shapes_; }
const std::vector<DType>& Executor::arg_types() const { return impl_->arg_types_; }
const std::vector<Context>& Executor::arg_contexts() const { return impl_->arg_contexts_; }
absl::Status Executor::SetArg(absl::string_view name, const NDArray& array) {
  return impl_->SetArg(name, array);
}
const std::vector<std::string>& Executor::aux_names() const {
  return impl_->bound_->program().aux_names;
}
const std::vector<std::string>& Executor::grad_names() const { return impl_->grad_names_; }
const ArrayMap& Executor::arg_dict() const { return impl_->arrays_.args; }
const ArrayMap& Executor::grad_dict() const { return impl_->arrays_.grads; }
const ArrayMap& Executor::aux_dict() const { return impl_->arrays_.auxs; }
NDArray Executor::arg(absl::string_view name) const { return FindArray(impl_->arrays_.args, name); }
NDArray Executor::grad(absl::string_view name) const {
  return FindArray(impl_->arrays_.grads, name);
}
NDArray Executor::aux(absl::string_view name) const { return FindArray(impl_->arrays_.auxs, name); }
const Symbol& Executor::symbol() const { return impl_->symbol_; }
Context Executor::context() const { return impl_->options_.context; }

absl::Status Executor::CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs,
                                      bool allow_extra) {
  auto copy = [&](const ArrayMap& from, const ArrayMap& to, const char* kind) -> absl::Status {
    for (const auto& [name, array] : from) {
      NDArray target = FindArray(to, name);
      if (target.is_null()) {
        if (allow_extra) continue;
        return absl::NotFoundError(absl::StrCat("the symbol has no ", kind, " '", name, "'"));
      }
      absl::Status status = target.CopyFrom(array);
      if (!status.ok()) {
        return absl::Status(status.code(), absl::StrCat(kind, " '", name, "': ", status.message()));
      }
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(copy(args, impl_->arrays_.args, "argument"));
  return copy(auxs, impl_->arrays_.auxs, "auxiliary state");
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Reshape(const KnownShapes& shapes,
                                                            bool partial_shaping,
                                                            bool allow_up_sizing) const {
  BindOptions bound = impl_->options_;
  bound.args = impl_->arrays_.args;
  bound.grads = impl_->arrays_.grads;
  bound.auxs = impl_->arrays_.auxs;
  COOPER_ASSIGN_OR_RETURN(
      const BindOptions options,
      ReshapeOptions(impl_->symbol_, std::move(bound), shapes, partial_shaping, allow_up_sizing));
  return SimpleBind(impl_->symbol_, options);
}

void Executor::SetMonitorCallback(MonitorCallback callback, bool monitor_all) {
  impl_->SetMonitor(std::move(callback), monitor_all);
}

MemoryReport Executor::memory() const {
  MemoryReport report{.values = impl_->bound_->num_ranges()};
  for (size_t i = 0; i < impl_->arenas_.size(); ++i) {
    const MemoryPlan& plan = impl_->bound_->plan(static_cast<int>(i));
    report.planned_bytes += plan.arena_size;
    report.lower_bound += plan.lower_bound;
    report.arena_bytes += impl_->arenas_[i]->bytes();
  }
  return report;
}

std::string Executor::DebugString() const {
  const MemoryReport report = memory();
  return absl::StrCat(ProgramText(*impl_->bound_), "planned ", report.planned_bytes,
                      " bytes, lower bound ", report.lower_bound, ", arena ", report.arena_bytes,
                      "\n");
}

}  // namespace cooper
