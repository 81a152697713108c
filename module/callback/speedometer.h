#ifndef COOPER_MODULE_CALLBACK_SPEEDOMETER_H_
#define COOPER_MODULE_CALLBACK_SPEEDOMETER_H_

// Logs the speed of training every few batches.

#include <cstdint>
#include <functional>

#include "module/callback/callback.h"
#include "module/callback/log_line.h"

namespace cooper {

// Options of Speedometer. Samples per second are those of the last `frequent` batches, without
// padding rows.
struct SpeedometerOptions {
  int64_t frequent = 50;  // batches between two reports, at least 1
  // Resets the metric's local sums after each report, so that it covers the batches since the last
  // one.
  bool auto_reset = true;
  LogLine log = LogInfo;
  // Returns seconds since any fixed time. Null: the steady clock.
  std::function<double()> now;
};

// Logs "Epoch[0] Batch [50-100]\tSpeed: 1234.56 samples/sec\taccuracy=0.500000". Samples are the
// rows that belong to the epoch (without DataBatch::pad). If batches have the lengths of their
// rows, "12345.67 tokens/sec, 8.5 % padding" follows: tokens are the time steps without padding,
// and padding is the rest of axis 'T' of the first input's layout; without that axis neither is
// logged. The count restarts when a batch's number is smaller than the last one's.
BatchEndCallback Speedometer(SpeedometerOptions options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_SPEEDOMETER_H_
