#ifndef COOPER_EXECUTOR_RUN_MONITORED_RUN_H_
#define COOPER_EXECUTOR_RUN_MONITORED_RUN_H_

// A run that may be watched. Who monitors a graph wants to see its nodes, not what passes have made
// of them: while there is a monitor, the graph runs as it was written, by a second program over the
// same arrays and arenas, which is compiled when it is first needed.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/compile/compiled_program.h"
#include "executor/run/after_backward.h"
#include "executor/run/program_run.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

class MonitoredRun {
 public:
  // As ProgramRun::Create.
  static absl::StatusOr<std::unique_ptr<MonitoredRun>> Create(
      std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
      std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random);

  // Executor::SetMonitorCallback's.
  using Callback = std::function<void(const std::string& name, const NDArray& array)>;
  void SetMonitor(Callback callback, bool monitor_all);

  // As ProgramRun's. Forward may also fail with the errors of CompiledProgram::Compile.
  absl::Status SetArg(int slot, const NDArray& array);
  bool Overwrites(const NDArray& array) const { return merged_->Overwrites(array); }
  bool TakesOutput(int i) const { return merged_->TakesOutput(i); }
  absl::Status SetOutput(int i, const NDArray& array);
  absl::Status Forward(bool is_train);
  absl::Status Backward(absl::Span<const NDArray> head_gradients);
  absl::Status ForwardBackward(absl::Span<const NDArray> head_gradients,
                               const AfterBackward* after);
  // Executor::Backward's.
  using GradCallback = absl::FunctionRef<absl::Status(const std::string& name, DeviceQueue& queue)>;
  absl::Status Backward(absl::Span<const NDArray> head_gradients, GradCallback on_grad);

  // The run of the last Forward, or the one that comes first.
  const ProgramRun& run() const { return *run_; }

 private:
  MonitoredRun(std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random)
      : arenas_(std::move(arenas)), random_(std::move(random)) {}

  // Makes run_ the one that the monitor, or its absence, asks for.
  absl::Status ChooseRun();

  const std::vector<std::shared_ptr<Arena>> arenas_;
  const std::shared_ptr<RandomState> random_;
  std::unique_ptr<ProgramRun> merged_;  // with what passes have put together
  std::unique_ptr<ProgramRun> plain_;   // as written; null until it is needed
  ProgramRun* run_ = nullptr;           // one of the two
  // Null without a monitor. A run holds it, since a callback may set another one.
  std::shared_ptr<const BoundProgram::Observer> observer_;
  std::vector<std::vector<int>> grads_done_;  // GradsDoneAfter of merged_, once it was needed
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_MONITORED_RUN_H_
