#include "module/fit/stop_requests.h"

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

StopRequests::StopRequests(BaseModule& module, const FitOptions& options)
    : module_(module), options_(options), store_(module.kvstore()) {
  if (options.stop_on_signal) signal_.emplace();
  if (store_ != nullptr && store_->num_workers() == 1) store_ = nullptr;
  if (store_ != nullptr) store_->ResetStop();
}

StopReason StopRequests::reason() const {
  return store_ == nullptr ? StopReason::kNone : store_->stop_reason();
}

void StopRequests::AnnounceSignal() {
  if (store_ != nullptr && received() != 0) store_->RequestStop(StopReason::kSignal);
}

bool StopRequests::SignalEnds(bool settled) const {
  return store_ == nullptr ? settled && received() != 0 : reason() == StopReason::kSignal;
}

absl::Status StopRequests::EndBySignal(int epoch, int64_t batches_done) const {
  if (options_.stop_point) COOPER_RETURN_IF_ERROR(options_.stop_point(epoch, batches_done));
  const int number = received();
  return absl::CancelledError(absl::StrCat(
      "Fit: ", number == 0 ? "a signal to another process" : absl::StrCat("signal ", number),
      " ended the training in epoch ", epoch, " after ", batches_done, " batches"));
}

absl::StatusOr<bool> StopRequests::ContinueAfterBatch(bool keep_going) {
  if (!keep_going && store_ != nullptr && reason() == StopReason::kNone) {
    store_->RequestStop(StopReason::kCallback);
    COOPER_RETURN_IF_ERROR(module_.JoinUpdate().status());
  }
  return keep_going && reason() == StopReason::kNone;
}

absl::StatusOr<bool> StopRequests::FinishEpoch(absl::FunctionRef<absl::Status()> joined) {
  while (store_ != nullptr && reason() == StopReason::kNone) {
    AnnounceSignal();
    COOPER_ASSIGN_OR_RETURN(const int active, module_.JoinUpdate());
    if (active == 0) break;
    COOPER_RETURN_IF_ERROR(joined());
  }
  return reason() == StopReason::kNone;
}

absl::StatusOr<bool> StopRequests::ContinueAfterEpoch(bool keep_going) {
  if (store_ == nullptr) return keep_going;
  if (!keep_going) store_->RequestStop(StopReason::kCallback);
  COOPER_RETURN_IF_ERROR(module_.JoinUpdate().status());
  return reason() == StopReason::kNone;
}

}  // namespace cooper
