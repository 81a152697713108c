#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_

// A queue that does not synchronise with other streams, for tests that a kernel uses no stream but
// its queue's.

#include <memory>

#include "absl/status/statusor.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns a queue of a GPU that runs after all work given to the device so far. Unlike the queues
// of Device::MakeQueue, it and the default stream do not wait for each other afterwards. Returns
// null for a CPU.
absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeKernelQueue(const Context& context);

// Returns a copy on the CPU of `array` after all work in `queue`, which belongs to the array's
// context. Work in other streams need not have run; the emulator in lazy mode does not run it.
// `queue` may be null for an array of a CPU.
absl::StatusOr<NDArray> CopyAfter(DeviceQueue* queue, const NDArray& array);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_
