#include "executor/run/bound_program.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// The distance between the seeds of replicas, 2^64 / golden ratio, which keeps their streams apart
// for seeds that are near each other.
constexpr uint64_t kReplicaStride = 0x9E3779B97F4A7C15;

std::vector<NDArray> GradientsOf(const ProgramSteps& steps) {
  std::vector<NDArray> gradients;
  gradients.reserve(steps.program().gradients.size());
  for (const ProgramGradient& gradient : steps.program().gradients) {
    gradients.push_back(steps.array(ProgramBuffer::Kind::kGrad, gradient.arg));
  }
  return gradients;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BoundProgram>> BoundProgram::Bind(
    std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
    std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random) {
  COOPER_RETURN_IF_ERROR(CheckArrays(*compiled, arrays));
  const std::vector<Context>& contexts = compiled->program().contexts;
  arenas.resize(contexts.size());
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (arenas[i] == nullptr) arenas[i] = std::make_shared<Arena>(contexts[i]);
    if (!(arenas[i]->context() == contexts[i])) {
      return absl::InvalidArgumentError(absl::StrCat("the arena is on ",
                                                     arenas[i]->context().ToString(),
                                                     ", the executor on ", contexts[i].ToString()));
    }
    COOPER_RETURN_IF_ERROR(arenas[i]->Reserve(compiled->layout().regions[i].plan.arena_size));
  }
  if (random == nullptr) {
    random = std::make_shared<RandomState>(RandomState{.seed = DefaultSeed()});
  }
  std::unique_ptr<BoundProgram> run(new BoundProgram(std::move(compiled), std::move(arrays),
                                                     std::move(arenas), std::move(random)));
  COOPER_RETURN_IF_ERROR(run->CheckNotOverwritten());
  return run;
}

BoundProgram::BoundProgram(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
                           std::vector<std::shared_ptr<Arena>> arenas,
                           std::shared_ptr<RandomState> random)
    : steps_(std::move(compiled), std::move(arrays), std::move(arenas)),
      gradients_(GradientsOf(steps_)),
      random_(std::move(random)) {
  const Program& p = steps_.program();
  for (int output : p.outputs) {
    const ProgramBuffer& buffer = p.buffers[p.values[output].buffer];
    if (buffer.kind != Kind::kArena) outputs_may_move_ = true;
  }
  if (p.has_counted_outputs()) outputs_may_move_ = true;
  for (const NDArray& arg : steps_.arrays(Kind::kArg)) num_unset_ += arg.is_null() ? 1 : 0;
  outputs_.reserve(p.outputs.size());
  zero_heads_.resize(p.outputs.size());
}

BoundProgram::~BoundProgram() { ReleaseArenas(); }

void BoundProgram::ReleaseArenas() {
  for (const auto& arena : steps_.arenas()) arena->Release(this);
}

void BoundProgram::OnArenaReused() {
  ReleaseOutputs();
  arena_reused_ = true;
}

void BoundProgram::ReleaseOutputs() {
  outputs_.clear();
  outputs_generation_ = kNoGeneration;
}

absl::Status BoundProgram::Forward(bool is_train, const ProgramObserver* observer) {
  COOPER_RETURN_IF_ERROR(CheckArgs());
  const ProgramSteps::Part part =
      is_train ? ProgramSteps::Part::kTraining : ProgramSteps::Part::kInference;
  return Run(is_train, [&] { return steps_.Run(part, seed_, run_, observer); });
}

absl::Status BoundProgram::Run(bool is_train, absl::FunctionRef<absl::Status()> run) {
  for (const auto& arena : steps_.arenas()) arena->Use(this);
  // After an error, or a monitor that throws, the arena holds no valid outputs.
  absl::Cleanup unless_done = [this] {
    ReleaseArenas();
    ReleaseOutputs();
  };
  COOPER_RETURN_IF_ERROR(BeginRun());
  COOPER_RETURN_IF_ERROR(run());
  COOPER_RETURN_IF_ERROR(TakeCountedOutputs());
  std::move(unless_done).Cancel();
  arena_reused_ = false;
  ran_training_ = is_train;
  waits_for_backward_ = is_train && compiled().output_of_backward() >= 0;
  return absl::OkStatus();
}

absl::Status BoundProgram::BeginRun() {
  ran_training_ = false;
  COOPER_RETURN_IF_ERROR(steps_.Refresh());
  COOPER_RETURN_IF_ERROR(MakeMissingOutputs());
  COOPER_RETURN_IF_ERROR(TakeOutputs());
  if (random_->runs >= kMaxRuns) {
    return absl::OutOfRangeError(absl::StrCat("Forward: random numbers of run ", random_->runs,
                                              " would be drawn, and there are ", kMaxRuns,
                                              " runs; set another seed"));
  }
  run_ = random_->runs++;
  seed_ = random_->seed + random_->replica * kReplicaStride;
  return absl::OkStatus();
}

absl::Status BoundProgram::TakeOutputs() {
  if (outputs_generation_ == steps_.generation() && !outputs_may_move_) return absl::OkStatus();
  ReleaseOutputs();
  for (int output : steps_.program().outputs) {
    COOPER_ASSIGN_OR_RETURN(NDArray array, steps_.ArrayOf(output));
    outputs_.push_back(std::move(array));
  }
  outputs_generation_ = steps_.generation();
  return absl::OkStatus();
}

absl::Status BoundProgram::TakeCountedOutputs() {
  const Program& p = steps_.program();
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    if (!p.values[p.outputs[i]].counted) continue;
    COOPER_ASSIGN_OR_RETURN(outputs_[i], steps_.ArrayOf(p.outputs[i]));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::Backward(absl::Span<const NDArray> head_gradients,
                                    const ProgramObserver* observer) {
  if (!has_gradients()) return absl::OkStatus();
  if (!ran_training_) {
    return absl::FailedPreconditionError(
        "Backward: call Forward(is_train=true) first, once for each Backward");
  }
  COOPER_RETURN_IF_ERROR(CheckCurrent("Backward"));
  COOPER_RETURN_IF_ERROR(TakeHeadGradients(head_gradients));
  // Values are overwritten after their last use, so there can be no second Backward.
  ran_training_ = false;
  COOPER_RETURN_IF_ERROR(steps_.Run(ProgramSteps::Part::kBackward, seed_, run_, observer));
  // The shapes of outputs that this pass computes are known only now.
  if (waits_for_backward_) COOPER_RETURN_IF_ERROR(TakeCountedOutputs());
  waits_for_backward_ = false;
  return absl::OkStatus();
}

absl::Status BoundProgram::ForwardBackward(absl::Span<const NDArray> head_gradients,
                                           const ProgramObserver* observer,
                                           const AfterBackward* after) {
  // The shapes of counted outputs, and of their head gradients, are known after Forward.
  if (steps_.program().has_counted_outputs()) {
    COOPER_RETURN_IF_ERROR(Forward(/*is_train=*/true, observer));
    COOPER_RETURN_IF_ERROR(Backward(head_gradients, observer));
    return after == nullptr ? absl::OkStatus() : after->enqueue(steps_.arenas()[0]->queue());
  }
  COOPER_RETURN_IF_ERROR(CheckArgs());
  if (has_gradients()) COOPER_RETURN_IF_ERROR(TakeHeadGradients(head_gradients));
  COOPER_RETURN_IF_ERROR(Run(/*is_train=*/true, [&] {
    return steps_.Run(ProgramSteps::Part::kAll, seed_, run_, observer, after);
  }));
  ran_training_ = false;
  waits_for_backward_ = false;
  return absl::OkStatus();
}

absl::Status BoundProgram::TakeHeadGradients(absl::Span<const NDArray> head_gradients) {
  const Program& p = steps_.program();
  if (!head_gradients.empty() && head_gradients.size() != p.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Backward: ", head_gradients.size(), " head gradients for ", p.outputs.size(), " outputs"));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    if (p.head_gradients[i] < 0) continue;
    COOPER_RETURN_IF_ERROR(TakeHeadGradient(
        static_cast<int>(i), i < head_gradients.size() ? head_gradients[i] : NDArray()));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::TakeHeadGradient(int i, NDArray head) {
  const Program& p = steps_.program();
  const ProgramValue& value = p.values[p.head_gradients[i]];
  const Context context = p.contexts[p.buffers[value.buffer].context];
  const bool counted = p.values[p.outputs[i]].counted;
  const Shape& shape = counted ? outputs_[i].shape() : value.shape;
  const auto name = [&] { return OutputName(compiled().symbol().outputs()[i]); };
  if (head.is_null()) {
    COOPER_ASSIGN_OR_RETURN(const bool needed, compiled().NeedsHeadGradient(i));
    if (needed) {
      return absl::FailedPreconditionError(
          absl::StrCat("Backward: output '", name(),
                       "' is not a loss and needs a head gradient of shape ", shape.ToString()));
    }
    // Made once, because passes are recorded again for another array.
    NDArray& zeros = zero_heads_[i];
    if (zeros.is_null()) {
      COOPER_ASSIGN_OR_RETURN(zeros, NDArray::Zeros(value.shape, value.dtype, context));
    }
    steps_.SetArray(Kind::kHeadGrad, i, zeros);
    return absl::OkStatus();
  }
  if (!HasShapeAndType(head, shape, value.dtype, context)) {
    return absl::InvalidArgumentError(absl::StrCat("Backward: the head gradient of output '",
                                                   name(), "' is ", head.ToString(), ", expected ",
                                                   Describe(shape, value.dtype, context)));
  }
  if (gradients_.Overlap(head)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Backward: the head gradient of output '", name(),
                     "' lies where a gradient is written, before all is read; give a copy of it"));
  }
  steps_.SetArray(Kind::kHeadGrad, i, head);
  return absl::OkStatus();
}

absl::Status BoundProgram::CheckCurrent(const char* call) const {
  const bool current =
      absl::c_all_of(steps_.arenas(), [this](const auto& arena) { return arena->user() == this; });
  if (current) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      call, ": ",
      arena_reused_ ? "another executor that shares the arena has run since the last Forward"
                    : "call Forward first"));
}

absl::StatusOr<absl::Span<const NDArray>> BoundProgram::outputs() const {
  COOPER_RETURN_IF_ERROR(CheckCurrent("outputs"));
  if (waits_for_backward_) {
    return absl::FailedPreconditionError(
        absl::StrCat("outputs: in a training run output '",
                     OutputName(compiled().symbol().outputs()[compiled().output_of_backward()]),
                     "' is computed by Backward; call it first"));
  }
  return absl::Span<const NDArray>(outputs_);
}

}  // namespace cooper
