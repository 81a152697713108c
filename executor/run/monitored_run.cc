#include "executor/run/monitored_run.h"

#include <utility>

#include "executor/compile/passes.h"
#include "executor/program/program.h"
#include "executor/run/grad_order.h"
#include "executor/run/program_monitor.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::unique_ptr<MonitoredRun>> MonitoredRun::Create(
    std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
    std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random) {
  std::unique_ptr<MonitoredRun> result(new MonitoredRun(std::move(arenas), std::move(random)));
  COOPER_ASSIGN_OR_RETURN(
      result->merged_,
      ProgramRun::Create(std::move(compiled), std::move(arrays), result->arenas_, result->random_));
  result->run_ = result->merged_.get();
  return result;
}

void MonitoredRun::SetMonitor(Callback callback, bool monitor_all) {
  observer_ = nullptr;
  if (callback == nullptr) return;
  observer_ =
      std::make_shared<const BoundProgram::Observer>(MonitorOf(std::move(callback), monitor_all));
}

absl::Status MonitoredRun::SetArg(int slot, const NDArray& array) {
  COOPER_RETURN_IF_ERROR(merged_->SetArg(slot, array));
  return plain_ == nullptr ? absl::OkStatus() : plain_->SetArg(slot, array);
}

absl::Status MonitoredRun::SetOutput(int i, const NDArray& array) {
  COOPER_RETURN_IF_ERROR(merged_->SetOutput(i, array));
  if (plain_ == nullptr || !plain_->TakesOutput(i)) return absl::OkStatus();
  return plain_->SetOutput(i, array);
}

absl::Status MonitoredRun::ChooseRun() {
  const CompiledProgram& compiled = merged_->compiled();
  const bool wants_plain = observer_ != nullptr && compiled.merges_nodes();
  if (wants_plain && plain_ == nullptr) {
    CompileOptions options = compiled.options();
    options.disabled_passes = WithoutMergingPasses(std::move(options.disabled_passes));
    COOPER_ASSIGN_OR_RETURN(auto program, CompiledProgram::Compile(compiled.symbol(), options));
    // Slots are in the order of the symbol's variables, the same in both programs; behind them are
    // constants that only one of them has.
    ProgramArrays arrays = merged_->bound().arrays();
    arrays.args.resize(program->arg_shapes().size());
    arrays.grads.resize(program->arg_shapes().size());
    COOPER_ASSIGN_OR_RETURN(
        plain_, ProgramRun::Create(std::move(program), std::move(arrays), arenas_, random_));
    for (size_t k = 0; k < merged_->compiled().program().outputs.size(); ++k) {
      const int i = static_cast<int>(k);
      if (!merged_->TakesOutput(i) || !plain_->TakesOutput(i)) continue;
      COOPER_RETURN_IF_ERROR(plain_->SetOutput(i, merged_->bound().output(i)));
    }
  }
  run_ = wants_plain ? plain_.get() : merged_.get();
  return absl::OkStatus();
}

absl::Status MonitoredRun::Forward(bool is_train) {
  COOPER_RETURN_IF_ERROR(ChooseRun());
  const auto observer = observer_;
  return run_->Forward(is_train, observer.get());
}

absl::Status MonitoredRun::Backward(absl::Span<const NDArray> head_gradients) {
  const auto observer = observer_;
  return run_->Backward(head_gradients, observer.get());
}

absl::Status MonitoredRun::ForwardBackward(absl::Span<const NDArray> head_gradients,
                                           const AfterBackward* after) {
  COOPER_RETURN_IF_ERROR(ChooseRun());
  const auto observer = observer_;
  return run_->ForwardBackward(head_gradients, observer.get(), after);
}

absl::Status MonitoredRun::Backward(absl::Span<const NDArray> head_gradients,
                                    GradCallback on_grad) {
  // The graph as written, whose instructions grads_done_ does not number, may have run forward
  // before the monitor was taken away.
  if (observer_ != nullptr || run_ != merged_.get()) return Backward(head_gradients);
  if (grads_done_.empty()) grads_done_ = GradsDoneAfter(merged_->compiled());
  absl::Status told;
  const auto tell = [&](const BoundProgram& bound, int instruction) {
    const Program& p = bound.program();
    for (const int g : grads_done_[instruction]) {
      const std::string& name = p.arg_names[p.gradients[g].arg];
      const int context = p.instructions[instruction].context;
      told.Update(on_grad(name, *bound.arenas()[context]->queue()));
    }
  };
  const BoundProgram::Observer observer{.before = nullptr, .after = tell};
  COOPER_RETURN_IF_ERROR(run_->Backward(head_gradients, &observer));
  return told;
}

}  // namespace cooper
