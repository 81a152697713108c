#include "module/fit/fit_processes.h"

#include "ndarray/base/status_macros.h"

namespace cooper {

FitProcesses::FitProcesses(BaseModule& module) : module_(module), store_(module.kvstore()) {
  if (store_ != nullptr && store_->num_workers() == 1) store_ = nullptr;
  if (store_ != nullptr) store_->ForgetStop();
}

StopReason FitProcesses::stop_reason() const {
  return store_ == nullptr ? StopReason::kNone : store_->stop_reason();
}

void FitProcesses::RequestStop(StopReason reason) {
  if (store_ != nullptr) store_->RequestStop(reason);
}

absl::Status FitProcesses::Stop(StopReason reason) {
  if (store_ == nullptr || stop_requested()) return absl::OkStatus();
  store_->RequestStop(reason);
  return module_.JoinUpdate().status();
}

absl::Status FitProcesses::FinishEpoch(const std::optional<StopSignal>& signal,
                                       absl::FunctionRef<absl::Status()> joined) {
  while (store_ != nullptr && !stop_requested()) {
    if (signal.has_value() && signal->received() != 0) store_->RequestStop(StopReason::kSignal);
    COOPER_ASSIGN_OR_RETURN(const int active, module_.JoinUpdate());
    if (active == 0) break;
    COOPER_RETURN_IF_ERROR(joined());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> FitProcesses::AllGoOn(bool go_on) {
  if (store_ == nullptr) return go_on;
  if (!go_on) store_->RequestStop(StopReason::kCallback);
  COOPER_RETURN_IF_ERROR(module_.JoinUpdate().status());
  return !stop_requested();
}

}  // namespace cooper
