#ifndef COOPER_NDARRAY_ARRAY_QUEUE_OF_H_
#define COOPER_NDARRAY_ARRAY_QUEUE_OF_H_

// One queue for each device, whoever uses it.

#include "absl/status/statusor.h"
#include "ndarray/array/device.h"
#include "ndarray/base/context.h"

namespace cooper {

// The queue of a context, in which everything goes that shares arrays with others: who reads an
// array finds there what others have put in to write it, and who writes one what still reads it.
// Several threads may use it: what each puts in keeps its order. It is made at the first call,
// lives as long as the program, and is not owned. Thread-safe. The errors are FindDevice's, and
// those of Device::MakeQueue.
absl::StatusOr<DeviceQueue*> QueueOf(Context context);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_QUEUE_OF_H_
