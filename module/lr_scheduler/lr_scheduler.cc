#include "module/lr_scheduler/lr_scheduler.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

double LRScheduler::LearningRate(int64_t num_update) {
  if (num_update >= options_.warmup_steps) return AfterWarmup(num_update);
  if (options_.warmup_mode == WarmupMode::kConstant) return options_.warmup_begin_lr;
  return options_.warmup_begin_lr + (options_.base_lr - options_.warmup_begin_lr) *
                                        static_cast<double>(num_update) /
                                        static_cast<double>(options_.warmup_steps);
}

absl::Status LRScheduler::CheckOptions() const { return CheckLRSchedulerOptions(options_); }

std::string LRScheduler::SaveState() const {
  KeyValues state;
  state.SetString("kind", kind());
  state.SetDouble("base_lr", base_lr_);
  Save(&state);
  return state.ToString();
}

absl::Status LRScheduler::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kind()));
  COOPER_ASSIGN_OR_RETURN(const double base_lr, state.GetDouble("base_lr"));
  if (!std::isfinite(base_lr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("lr_scheduler: state 'base_lr' is ", base_lr, ", expected a finite number"));
  }
  COOPER_RETURN_IF_ERROR(Load(state));
  base_lr_ = base_lr;
  return absl::OkStatus();
}

absl::Status CheckScheduledRate(absl::string_view name, double rate) {
  // Sums and products of two such rates are finite.
  if (std::abs(rate) <= std::numeric_limits<float>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("lr_scheduler: ", name, " is ", rate,
                                                 ", expected a number that float32 can hold"));
}

absl::Status CheckLRSchedulerOptions(const LRSchedulerOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckScheduledRate("base_lr", options.base_lr));
  COOPER_RETURN_IF_ERROR(CheckScheduledRate("warmup_begin_lr", options.warmup_begin_lr));
  if (options.warmup_steps < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("lr_scheduler: warmup_steps is ", options.warmup_steps, ", expected >= 0"));
  }
  if (options.warmup_begin_lr > options.base_lr) {
    return absl::InvalidArgumentError(absl::StrCat("lr_scheduler: warmup_begin_lr is ",
                                                   options.warmup_begin_lr, ", above base_lr, ",
                                                   options.base_lr));
  }
  return absl::OkStatus();
}

}  // namespace cooper
