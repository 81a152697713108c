#ifndef COOPER_EXECUTOR_RUN_AFTER_BACKWARD_H_
#define COOPER_EXECUTOR_RUN_AFTER_BACKWARD_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ndarray/array/device.h"

namespace cooper {

// Work that follows a backward pass, such as an update of the parameters. It is launched together
// with the pass: on a GPU as one recording.
// The work and its identity. Valid while `enqueue` refers to a live function, usually one call.
struct AfterBackward {
  // Enqueues the work on `queue`, the queue of the executor's context. Not owned.
  absl::FunctionRef<absl::Status(DeviceQueue* queue)> enqueue;
  // Identifies the work; not negative. Two runs may have the same number only if both enqueue the
  // same work on the same arrays: a recording is reused then.
  int64_t name = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_AFTER_BACKWARD_H_
