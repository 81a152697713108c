#ifndef COOPER_EXECUTOR_RUN_AFTER_BACKWARD_H_
#define COOPER_EXECUTOR_RUN_AFTER_BACKWARD_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ndarray/array/device.h"

namespace cooper {

// Work that follows a backward pass, such as an update of the parameters, and is launched together
// with it.
struct AfterBackward {
  // Enqueues the work on `queue`, the queue of the executor's context. Not owned.
  absl::FunctionRef<absl::Status(DeviceQueue* queue)> enqueue;
  // Not negative; that of an earlier run only if this one puts in the same work on the same arrays.
  int64_t name = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_AFTER_BACKWARD_H_
