#ifndef COOPER_MODULE_PREDICT_REQUESTS_FAILS_ON_DEMAND_H_
#define COOPER_MODULE_PREDICT_REQUESTS_FAILS_ON_DEMAND_H_

// An operator for tests of serving, FailsOnDemand(data): each run of its CPU kernel counts itself
// and returns the status code that the test has set, with the message "requested failure". It
// writes no output.

#include <atomic>

#include "absl/status/status.h"

namespace cooper {

// Shared by all nodes of the process, because batchers run them on threads of their own.
struct FailsOnDemand {
  static inline std::atomic<absl::StatusCode> code = absl::StatusCode::kOk;  // of the next runs
  static inline std::atomic<int> runs = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_FAILS_ON_DEMAND_H_
