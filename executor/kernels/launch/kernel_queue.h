#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_

// A queue that does not synchronise with other streams, for tests that a kernel uses no stream but
// its queue's: work that a kernel puts in another stream races with this queue, and the emulator in
// lazy mode never runs it. run_kernel.h runs kernels in such a queue. For tests only; programs get
// queues from Device::MakeQueue (ndarray/array/device.h).

#include <memory>

#include "absl/status/statusor.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns a queue of a GPU that runs after all work given to the device so far. Unlike the queues
// of Device::MakeQueue, it and the default stream do not wait for each other afterwards. Returns
// null for a CPU, whose kernels run on the calling thread. Waits for the device.
//
// Errors: those of CUDA if the device or a stream is not available.
absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeKernelQueue(const Context& context);

// Returns a copy on the CPU of `array` after all work in `queue`, which belongs to the array's
// context. Work in other streams need not have run; the emulator in lazy mode does not run it.
// `queue` may be null for an array of a CPU. Waits for `queue`.
//
// Errors: those of CUDA, including errors of the queued work.
absl::StatusOr<NDArray> CopyAfter(DeviceQueue* queue, const NDArray& array);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_
