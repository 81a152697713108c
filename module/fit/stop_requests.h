#ifndef COOPER_MODULE_FIT_STOP_REQUESTS_H_
#define COOPER_MODULE_FIT_STOP_REQUESTS_H_

// When a training ends before its last batch: a signal or a callback asks for it, here or in
// another process. Several processes in Fit at a time agree through the module's store: when an
// epoch is over for all of them, and whether and why all stop. One that has no batch left, or that
// stops, takes part in the others' updates until they know. With one process, or without a store,
// nothing is asked of anybody.

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

class StopRequests {
 public:
  // Forgets why an earlier Fit stopped, and catches signals from here on, with
  // FitOptions::stop_on_signal. Neither is owned; the optimizer of `module` is initialized.
  StopRequests(BaseModule& module, const FitOptions& options);

  bool several_processes() const { return store_ != nullptr; }

  // Lets the next update tell the other processes of a signal that has come here.
  void AnnounceSignal();
  // Whether a signal ends the training now. `settled` says that no gradients wait for an update. Of
  // several processes all end after the same update, so that their states belong together.
  bool SignalEnds(bool settled) const;
  // Ends it: calls stop_point, which saves what there is, and returns kCancelled.
  absl::Status EndBySignal(int epoch, int64_t batches_done) const;

  // Whether the training goes on behind a batch, as a callback here says: after false this takes
  // part in one more update, which tells the other processes.
  absl::StatusOr<bool> ContinueAfterBatch(bool keep_going);
  // Takes part in the updates of those that still have batches, and tells them of a signal. After
  // each such update it calls `joined`. Returns whether the training goes on.
  absl::StatusOr<bool> FinishEpoch(absl::FunctionRef<absl::Status()> joined);
  // Whether all go on with the next epoch, as this process would or would not.
  absl::StatusOr<bool> ContinueAfterEpoch(bool keep_going);

 private:
  int received() const { return signal_.has_value() ? signal_->received() : 0; }
  // Why all stop, as of the last update, of whichever process.
  StopReason reason() const;

  BaseModule& module_;
  const FitOptions& options_;
  std::optional<StopSignal> signal_;
  std::shared_ptr<KVStore> store_;  // null: one process
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_STOP_REQUESTS_H_
