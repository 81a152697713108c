#include "module/fit/epoch_log.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace cooper {

void EpochLog::Trained(const EvalMetric& metric) const {
  if (!log_) return;
  Values("Train", metric);
  const std::chrono::duration<double> seconds = Clock::now() - start_;
  log_(absl::StrFormat("Epoch[%d] Time cost=%.3f", epoch_, seconds.count()));
}

void EpochLog::Validated(const EvalMetric& metric) const {
  if (log_) Values("Validation", metric);
}

void EpochLog::Values(const char* what, const EvalMetric& metric) const {
  for (const auto& [name, value] : metric.GetGlobalNameValue()) {
    log_(absl::StrFormat("Epoch[%d] %s-%s=%f", epoch_, what, name, value));
  }
  const int64_t outside = metric.labels_out_of_range();
  if (outside == 0) return;
  log_(absl::StrFormat("Epoch[%d] %s: %d labels were no class of the predictions", epoch_, what,
                       outside));
}

}  // namespace cooper
