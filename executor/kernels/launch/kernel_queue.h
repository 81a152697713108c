#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_

// A queue in which nothing but the work that is put in it can be seen: for tests that a kernel uses
// its queue's stream and no other.

#include <memory>

#include "absl/status/statusor.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// A queue of a GPU that comes after all that the device has been asked for, but that, unlike those
// of Device::MakeQueue, does not wait for the default stream from then on, nor that for it. Null
// for a CPU.
absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeKernelQueue(const Context& context);

// A copy on the CPU of what `array` holds after all that `queue`, of its context, holds. Work in
// another stream need not have run, and under the emulator, when it is lazy, has not. `queue` may
// be null for an array of a CPU.
absl::StatusOr<NDArray> CopyAfter(DeviceQueue* queue, const NDArray& array);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_KERNEL_QUEUE_H_
