#ifndef COOPER_MODULE_FIT_STOP_REQUESTS_H_
#define COOPER_MODULE_FIT_STOP_REQUESTS_H_

// Decides when a training ends before its last batch, because a signal or a callback asks for it,
// in this process or in another one. Several processes in Fit at a time agree through the module's
// store on when an epoch is over and on whether and why all stop. A process that has no batch left,
// or that stops, takes part in the others' updates until they know. With one process, or without a
// store, nothing is exchanged.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/fit/stop_signal.h"
#include "module/interface/base_module.h"
#include "module/kvstore/kvstore.h"

namespace cooper {

// Decides for one training. Not thread-safe; with several processes, methods that update are
// collective.
class StopRequests {
 public:
  // Forgets why an earlier Fit stopped. With FitOptions::stop_on_signal, catches signals from here
  // on. Neither argument is owned; the optimizer of `module` must be initialized.
  StopRequests(BaseModule& module, const FitOptions& options);

  bool several_processes() const { return store_ != nullptr; }

  // Lets the next update tell the other processes that this one received a signal.
  void AnnounceSignal();
  // Returns whether a signal ends the training now. `settled` says that no gradients wait for an
  // update; one process stops only then. Several processes all stop after the same update, so that
  // their states belong together.
  bool SignalEnds(bool settled) const;
  // Calls stop_point, which saves the run, and returns kCancelled.
  absl::Status EndBySignal(int epoch, int64_t batches_done) const;

  // Returns whether the training continues after a batch. `keep_going` is what this process's
  // callbacks say: if false, this takes part in one more update, which tells the other processes.
  absl::StatusOr<bool> ContinueAfterBatch(bool keep_going);
  // Takes part in the updates of the processes that still have batches, and tells them of a signal.
  // Calls `joined` after each of these updates. Returns whether the training continues.
  absl::StatusOr<bool> FinishEpoch(absl::FunctionRef<absl::Status()> joined);
  // Tells the other processes of `keep_going`, and returns whether all continue with the next
  // epoch.
  absl::StatusOr<bool> ContinueAfterEpoch(bool keep_going);

 private:
  int received() const { return signal_.has_value() ? signal_->received() : 0; }
  // Returns why all processes stop, as of the last update.
  StopReason reason() const;

  BaseModule& module_;
  const FitOptions& options_;
  std::optional<StopSignal> signal_;
  std::shared_ptr<KVStore> store_;  // null: one process
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_STOP_REQUESTS_H_
