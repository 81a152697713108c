#ifndef COOPER_MODULE_FIT_FIT_PROCESSES_H_
#define COOPER_MODULE_FIT_FIT_PROCESSES_H_

// What several processes in Fit at a time agree on through the module's store: when an epoch is
// over for all of them, and whether and why all stop. One that has no batch left, or that stops,
// takes part in the others' updates until they know. With one process, or without a store, nothing
// is asked of anybody.

#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/fit/stop_signal.h"
#include "module/interface/base_module.h"
#include "module/kvstore/kvstore.h"

namespace cooper {

class FitProcesses {
 public:
  // Forgets why an earlier Fit stopped. `module` is not owned; its optimizer is initialized.
  explicit FitProcesses(BaseModule& module);

  bool several() const { return store_ != nullptr; }
  // As of the last update, of whichever process.
  StopReason stop_reason() const;
  bool stop_requested() const { return stop_reason() != StopReason::kNone; }

  // Asks all to stop after the next update.
  void RequestStop(StopReason reason);
  // Tells the others, in whose next update this takes part.
  absl::Status Stop(StopReason reason);
  // Takes part in the updates of those that still have batches, and tells them of a signal. After
  // each such update it calls `joined`.
  absl::Status FinishEpoch(const std::optional<StopSignal>& signal,
                           absl::FunctionRef<absl::Status()> joined);
  // Whether all go on with the next epoch, as this process would or would not.
  absl::StatusOr<bool> AllGoOn(bool go_on);

 private:
  BaseModule& module_;
  std::shared_ptr<KVStore> store_;  // null: one process
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_FIT_PROCESSES_H_
