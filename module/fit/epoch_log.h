#ifndef COOPER_MODULE_FIT_EPOCH_LOG_H_
#define COOPER_MODULE_FIT_EPOCH_LOG_H_

// The lines that Fit writes after an epoch, as MXNet's fit does: "Epoch[0]
// Train-accuracy=0.500000", "Epoch[0] Time cost=1.234", "Epoch[0] Validation-accuracy=0.500000".

#include <chrono>

#include "module/callback/log_line.h"
#include "module/metric/eval_metric.h"

namespace cooper {

class EpochLog {
 public:
  // The epoch's time counts from here. `log` may be null, for no lines; it is not owned and is
  // needed as long as this is.
  EpochLog(const LogLine& log, int epoch) : log_(log), epoch_(epoch), start_(Clock::now()) {}

  // The metric's values over the whole epoch, how many labels were no class of the predictions, and
  // the time.
  void Trained(const EvalMetric& metric) const;
  // The same of a validation, without the time.
  void Validated(const EvalMetric& metric) const;

 private:
  using Clock = std::chrono::steady_clock;

  void Values(const char* what, const EvalMetric& metric) const;

  const LogLine& log_;
  const int epoch_;
  const Clock::time_point start_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_EPOCH_LOG_H_
