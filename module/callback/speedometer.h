#ifndef COOPER_MODULE_CALLBACK_SPEEDOMETER_H_
#define COOPER_MODULE_CALLBACK_SPEEDOMETER_H_

// Reports the speed of training every few batches.

#include <cstdint>
#include <functional>

#include "module/callback/callback.h"
#include "module/callback/log_line.h"

namespace cooper {

struct SpeedometerOptions {
  int64_t frequent = 50;  // batches between two reports, at least 1
  // Resets the metric's local sums at each report, so that it tells of the batches since the last.
  bool auto_reset = true;
  LogLine log = LogInfo;
  // Seconds since any fixed time. Null: the steady clock.
  std::function<double()> now;
};

// "Epoch[0] Batch [50-100]\tSpeed: 1234.56 samples/sec\taccuracy=0.500000". Samples are the rows
// that belong to the epoch (without DataBatch::pad). If batches tell the lengths of their rows,
// "12345.67 tokens/sec, 8.5 % padding" follows the samples, tokens being the real ones; padding is
// what they lack of the axis 'T' of the first input's layout, without which neither is told. The
// count begins anew when a batch's number is smaller than the last one's.
BatchEndCallback Speedometer(SpeedometerOptions options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_SPEEDOMETER_H_
