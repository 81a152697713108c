#ifndef COOPER_MODULE_CALLBACK_PROGRESS_H_
#define COOPER_MODULE_CALLBACK_PROGRESS_H_

// Callbacks that log the progress of training.

#include <cstdint>

#include "module/callback/callback.h"
#include "module/callback/log_line.h"

namespace cooper {

// Logs "[=====-----] 50%", `length` characters wide, after each of `total` batches (at least 1).
// The callback never ends the training and keeps no state, so one serves several trainings.
BatchEndCallback ProgressBar(int64_t total, int length = 80, LogLine log = LogInfo);

// Logs "Iter[0] Batch[100] Train-accuracy=0.500000" for each value, at every `period`-th batch.
// "Iter" is the epoch, as in MXNet.
struct LogTrainMetricOptions {
  int64_t period = 1;       // at least 1
  bool auto_reset = false;  // resets the metric's local sums afterwards
  LogLine log = LogInfo;
};
BatchEndCallback LogTrainMetric(LogTrainMetricOptions options = {});

// Logs "Epoch[0] Validation-accuracy=0.500000" for each value, at the end of an evaluation.
BatchEndCallback LogValidationMetrics(LogLine log = LogInfo);

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_PROGRESS_H_
