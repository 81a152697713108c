#include "executor/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/bound_program.h"
#include "executor/graph_passes/graph_passes.h"
#include "executor/lower.h"
#include "executor/passes.h"
#include "executor/program.h"
#include "executor/program_monitor.h"
#include "executor/program_text.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Keeps the streams of replicas apart for seeds that are near each other: 2^64 / golden ratio.
constexpr uint64_t kReplicaStride = 0x9E3779B97F4A7C15;

NDArray Find(const ArrayMap& arrays, absl::string_view name) {
  auto it = arrays.find(std::string(name.data(), name.size()));
  return it == arrays.end() ? NDArray() : it->second;
}

// The given array, checked against what the graph needs, or a new one of zeros.
absl::StatusOr<NDArray> TakeOrAllocate(const ArrayMap& given, const char* kind,
                                       const std::string& name, const Shape& shape, DType dtype,
                                       Context context) {
  NDArray array = Find(given, name);
  if (array.is_null()) return NDArray::Zeros(shape, dtype, context);
  if (array.shape() == shape && array.dtype() == dtype && SharesMemory(array.context(), context)) {
    return array;
  }
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' is ", array.ToString(),
                                                 ", expected ", shape.ToString(), " ",
                                                 DTypeName(dtype), " ", context.ToString()));
}

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const GraphPass& pass : AllGraphPasses()) names.emplace_back(pass.name);
  for (const Pass& pass : AllPasses()) {
    if (!pass.required) names.emplace_back(pass.name);
  }
  return names;
}

struct Executor::Lowered {
  Symbol symbol;
  BindOptions options;
  LoweredProgram result;
};

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
    if (ahead != nullptr && StillHolds(*ahead)) {
      lowered = std::move(ahead->result);
    } else {
      COOPER_ASSIGN_OR_RETURN(lowered, Lower(options_.disabled_passes));
    }
    ahead = nullptr;
    rewritten_ = lowered.rewritten ||
                 absl::c_any_of(lowered.program.instructions, [](const Instruction& instruction) {
                   return instruction.tiles >= 0 || instruction.again;
                 });
    COOPER_ASSIGN_OR_RETURN(ProgramArrays arrays, MakeArrays(lowered));
    for (int output : lowered.program.outputs) {
      output_shapes_.push_back(lowered.program.values[output].shape);
    }
    output_names_ = symbol_.ListOutputs();
    arg_shapes_ = lowered.arg_shapes;
    arg_types_ = lowered.arg_types;
    arg_contexts_ = lowered.arg_contexts;
    MakeArenas(lowered.program);
    outputs_.reserve(output_shapes_.size());
    return BindProgram(std::move(lowered.program), std::move(arrays));
  }

  absl::StatusOr<LoweredProgram> Lower(const std::set<std::string>& disabled_passes) const {
    LowerOptions lower{.shapes = options_.shapes,
                       .types = options_.types,
                       .context = options_.context,
                       .group2ctx = options_.group2ctx,
                       .grad_reqs = {},
                       .disabled_passes = disabled_passes};
    for (const ArrayMap* arrays : {&options_.args, &options_.auxs}) {
      for (const auto& [name, array] : *arrays) {
        lower.shapes[name] = array.shape();
        lower.types[name] = array.dtype();
      }
    }
    lower.grad_reqs = options_.grad_reqs;
    for (const std::string& name : symbol_.ListArguments()) {
      lower.grad_reqs.emplace(name, options_.grad_req);
    }
    COOPER_ASSIGN_OR_RETURN(LoweredProgram lowered, LowerToProgram(symbol_, lower));
    COOPER_RETURN_IF_ERROR(RunPasses(lowered.program, disabled_passes));
    return lowered;
  }

  // Whether lowering now would give the same: graph and options are the same, and the arrays that
  // have come since are what was inferred.
  bool StillHolds(const Lowered& ahead) const {
    const BindOptions& then = ahead.options;
    const Program& p = ahead.result.program;
    return symbol_.outputs() == ahead.symbol.outputs() && options_.context == then.context &&
           options_.group2ctx == then.group2ctx && options_.shapes == then.shapes &&
           options_.types == then.types && options_.grad_req == then.grad_req &&
           options_.grad_reqs == then.grad_reqs &&
           options_.disabled_passes == then.disabled_passes &&
           AsInferred(options_.args, then.args, p.arg_names, ahead.result.arg_shapes,
                      ahead.result.arg_types) &&
           AsInferred(options_.auxs, then.auxs, p.aux_names, ahead.result.aux_shapes,
                      ahead.result.aux_types);
  }

  static bool AsInferred(const ArrayMap& now, const ArrayMap& then,
                         const std::vector<std::string>& names, const std::vector<Shape>& shapes,
                         const std::vector<DType>& types) {
    size_t found = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto it = now.find(names[i]);
      if (it == now.end()) {
        if (then.contains(names[i])) return false;
        continue;
      }
      ++found;
      if (it->second.shape() != shapes[i] || it->second.dtype() != types[i]) return false;
    }
    return found == now.size();
  }

  // Disabled passes with which every node is computed, each for itself.
  std::set<std::string> AsWritten() const {
    std::set<std::string> disabled_passes = options_.disabled_passes;
    disabled_passes.insert({"recompute", "tiles"});
    for (const GraphPass& pass : AllGraphPasses()) disabled_passes.insert(pass.name);
    return disabled_passes;
  }

  absl::Status BindProgram(Program program, ProgramArrays arrays) {
    outputs_may_move_ = false;
    for (int output : program.outputs) {
      const ProgramBuffer& buffer = program.buffers[program.values[output].buffer];
      if (buffer.kind != ProgramBuffer::Kind::kArena) outputs_may_move_ = true;
    }
    FindOutputsOfBackward(program);
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
    COOPER_ASSIGN_OR_RETURN(LoweredProgram lowered,
                            Lower(wants_plain ? AsWritten() : options_.disabled_passes));
    ProgramArrays arrays;
    for (const std::string& name : lowered.program.arg_names) {
      arrays.args.push_back(Find(args_, name));
      arrays.grads.push_back(Find(grads_, name));
    }
    for (const std::string& name : lowered.program.aux_names) {
      arrays.auxs.push_back(Find(auxs_, name));
    }
    ForgetOutputs();
    COOPER_RETURN_IF_ERROR(BindProgram(std::move(lowered.program), std::move(arrays)));
    for (const auto& [name, rows] : grad_rows_) TrackInProgram(name, rows);
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

  absl::StatusOr<ProgramArrays> MakeArrays(const LoweredProgram& lowered) {
    ProgramArrays arrays;
    const Program& p = lowered.program;
    for (const std::string& name : options_.unbound_args) {
      if (std::find(p.arg_names.begin(), p.arg_names.end(), name) == p.arg_names.end()) {
        return absl::NotFoundError(absl::StrCat("'", name, "' is no argument; those are ",
                                                absl::StrJoin(p.arg_names, ", ")));
      }
    }
    for (size_t i = 0; i < p.arg_names.size(); ++i) {
      if (options_.unbound_args.contains(p.arg_names[i])) {
        arrays.args.emplace_back();
        ++num_unset_;
        continue;
      }
      COOPER_ASSIGN_OR_RETURN(
          NDArray array,
          TakeOrAllocate(options_.args, "argument", p.arg_names[i], lowered.arg_shapes[i],
                         lowered.arg_types[i], lowered.arg_contexts[i]));
      args_[p.arg_names[i]] = array;
      arrays.args.push_back(std::move(array));
    }
    for (size_t i = 0; i < p.aux_names.size(); ++i) {
      COOPER_ASSIGN_OR_RETURN(
          NDArray array,
          TakeOrAllocate(options_.auxs, "auxiliary state", p.aux_names[i], lowered.aux_shapes[i],
                         lowered.aux_types[i], lowered.aux_contexts[i]));
      auxs_[p.aux_names[i]] = array;
      arrays.auxs.push_back(std::move(array));
    }
    arrays.grads.resize(p.arg_names.size());
    for (const ProgramGradient& g : p.gradients) {
      const std::string& name = p.arg_names[g.arg];
      COOPER_ASSIGN_OR_RETURN(
          NDArray array,
          TakeOrAllocate(options_.grads, "gradient of", name, lowered.arg_shapes[g.arg],
                         lowered.arg_types[g.arg], lowered.arg_contexts[g.arg]));
      grads_[name] = array;
      arrays.grads[g.arg] = std::move(array);
    }
    for (const std::string& name : p.arg_names) {
      if (grads_.contains(name)) grad_names_.push_back(name);
    }
    return arrays;
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
    args_[names[slot]] = array;
    return absl::OkStatus();
  }

  absl::Status TrackGradRows(absl::string_view name, std::shared_ptr<RowSet> rows) {
    const NDArray grad = Find(grads_, name);
    if (grad.is_null()) {
      return absl::NotFoundError(absl::StrCat("TrackGradRows: '", name, "' has no gradient"));
    }
    if (grad.shape().rank() == 0 || grad.shape()[0] != rows->num_rows()) {
      return absl::InvalidArgumentError(absl::StrCat("TrackGradRows: the gradient of '", name,
                                                     "' is ", grad.ToString(), ", the set is of ",
                                                     rows->num_rows(), " rows"));
    }
    if (monitor_) rows->GiveUp();
    TrackInProgram(name, rows);
    grad_rows_[std::string(name.data(), name.size())] = std::move(rows);
    return absl::OkStatus();
  }

  void TrackInProgram(absl::string_view name, const std::shared_ptr<RowSet>& rows) {
    bound_->TrackGradRows(SlotOf(name), rows);
  }

  // Somebody can write to gradients from now on, or to one.
  void GiveUpGradRows() const {
    for (const auto& [name, rows] : grad_rows_) rows->GiveUp();
  }
  void GiveUpGradRows(absl::string_view name) const {
    const auto it = grad_rows_.find(std::string(name.data(), name.size()));
    if (it != grad_rows_.end()) it->second->GiveUp();
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
      COOPER_ASSIGN_OR_RETURN(const LoweredProgram plain, Lower(AsWritten()));
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
    GiveUpGradRows();
    observer_ = MonitorOf(monitor_, monitor_all);
  }

  const BoundProgram::Observer* observer() const { return monitor_ ? &observer_ : nullptr; }

  Symbol symbol_;
  BindOptions options_;
  std::unique_ptr<BoundProgram> bound_;
  ArrayMap args_, grads_, auxs_;
  std::vector<std::string> grad_names_;
  std::map<std::string, std::shared_ptr<RowSet>> grad_rows_;  // of TrackGradRows
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
                          Impl(symbol, options).Lower(options.disabled_passes));
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
absl::Status Executor::TrackGradRows(absl::string_view name, std::shared_ptr<RowSet> rows) {
  return impl_->TrackGradRows(name, std::move(rows));
}
absl::Status Executor::SetArg(absl::string_view name, const NDArray& array) {
  return impl_->SetArg(name, array);
}
const std::vector<std::string>& Executor::aux_names() const {
  return impl_->bound_->program().aux_names;
}
const std::vector<std::string>& Executor::grad_names() const { return impl_->grad_names_; }
const ArrayMap& Executor::arg_dict() const { return impl_->args_; }
const ArrayMap& Executor::grad_dict() const {
  impl_->GiveUpGradRows();
  return impl_->grads_;
}
const ArrayMap& Executor::aux_dict() const { return impl_->auxs_; }
NDArray Executor::arg(absl::string_view name) const { return Find(impl_->args_, name); }
NDArray Executor::grad(absl::string_view name) const {
  impl_->GiveUpGradRows(name);
  return Find(impl_->grads_, name);
}
NDArray Executor::aux(absl::string_view name) const { return Find(impl_->auxs_, name); }
const Symbol& Executor::symbol() const { return impl_->symbol_; }
Context Executor::context() const { return impl_->options_.context; }

absl::Status Executor::CopyParamsFrom(const ArrayMap& args, const ArrayMap& auxs,
                                      bool allow_extra) {
  auto copy = [&](const ArrayMap& from, const ArrayMap& to, const char* kind) -> absl::Status {
    for (const auto& [name, array] : from) {
      NDArray target = Find(to, name);
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
  COOPER_RETURN_IF_ERROR(copy(args, impl_->args_, "argument"));
  return copy(auxs, impl_->auxs_, "auxiliary state");
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Reshape(const KnownShapes& shapes,
                                                            bool partial_shaping,
                                                            bool allow_up_sizing) const {
  COOPER_ASSIGN_OR_RETURN(const InferredShapes inferred, InferShape(impl_->symbol_, shapes));
  impl_->GiveUpGradRows();
  BindOptions options = impl_->options_;
  options.shapes = shapes;
  options.args.clear();
  options.grads.clear();
  options.auxs.clear();
  // An array whose shape stays is shared; one of another shape is made anew.
  auto take = [&](const std::string& name, const PartialShape& wanted, const ArrayMap& from,
                  ArrayMap& to) -> absl::Status {
    const NDArray array = Find(from, name);
    const Shape shape = wanted.ToShape();
    if (array.is_null()) return absl::OkStatus();
    if (array.shape() == shape) {
      to[name] = array;
      return absl::OkStatus();
    }
    options.types[name] = array.dtype();
    if (!partial_shaping && !shapes.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Reshape: the shape of '", name, "' would change from ", array.shape().ToString(), " to ",
          shape.ToString(), "; give its shape, or allow it with partial_shaping"));
    }
    if (!allow_up_sizing && shape.num_elements() > array.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Reshape: '", name, "' would grow from ", array.shape().ToString(), " to ",
                       shape.ToString(), "; allow it with allow_up_sizing"));
    }
    return absl::OkStatus();
  };
  for (size_t i = 0; i < arg_names().size(); ++i) {
    const std::string& name = arg_names()[i];
    COOPER_RETURN_IF_ERROR(take(name, inferred.args[i], impl_->args_, options.args));
    COOPER_RETURN_IF_ERROR(take(name, inferred.args[i], impl_->grads_, options.grads));
  }
  for (size_t i = 0; i < aux_names().size(); ++i) {
    COOPER_RETURN_IF_ERROR(take(aux_names()[i], inferred.auxs[i], impl_->auxs_, options.auxs));
  }
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
