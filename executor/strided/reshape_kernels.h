#ifndef COOPER_EXECUTOR_STRIDED_RESHAPE_KERNELS_H_
#define COOPER_EXECUTOR_STRIDED_RESHAPE_KERNELS_H_

// Kernels of the operators whose output is their input's memory under another shape. They run only
// where the two could not share it.
// Device is what copies: CpuMover (executor/cpu/shape/strided_copy.h), CudaMover.

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "executor/strided/strided_loop.h"

namespace cooper {

template <typename Device>
absl::Status CopyKernel(const KernelContext& c) {
  return Device::CopyAll(c, c.inputs[0], c.reqs[0], c.outputs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_STRIDED_RESHAPE_KERNELS_H_
