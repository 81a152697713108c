#ifndef COOPER_NDARRAY_ARRAY_QUEUE_OF_H_
#define COOPER_NDARRAY_ARRAY_QUEUE_OF_H_

// Provides one queue per device, which all users share.

#include "absl/status/statusor.h"
#include "ndarray/array/device.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns the queue of `context`. All work on shared arrays goes into it, so that readers run after
// the pending writes of an array and writers after its pending reads. Several threads may use it;
// the work of each thread keeps its order. The queue is created at the first call, lives as long as
// the program and is not owned by the caller. Thread-safe. Errors are those of FindDevice and
// Device::MakeQueue.
absl::StatusOr<DeviceQueue*> GetQueue(Context context);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_QUEUE_OF_H_
