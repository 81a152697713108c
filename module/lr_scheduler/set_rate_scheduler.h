#ifndef COOPER_MODULE_LR_SCHEDULER_SET_RATE_SCHEDULER_H_
#define COOPER_MODULE_LR_SCHEDULER_SET_RATE_SCHEDULER_H_

// A schedule for tests of updates that fail and are repeated.

#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "module/lr_scheduler/lr_scheduler.h"

namespace cooper {

// A schedule whose rate is NaN, which updates refuse with kInvalidArgument, until the test sets it.
class SetRateScheduler : public LRScheduler {
 public:
  SetRateScheduler() : LRScheduler({.base_lr = 1}) {}
  double rate = std::numeric_limits<double>::quiet_NaN();

 protected:
  double AfterWarmup(int64_t) override { return rate; }
  absl::string_view kind() const override { return "set_rate"; }
};

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_SET_RATE_SCHEDULER_H_
