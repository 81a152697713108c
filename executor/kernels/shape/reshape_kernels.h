#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_RESHAPE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_RESHAPE_KERNELS_H_

// Kernels of the operators whose output is their input's memory under another shape. They run only
// where the two could not share it.
// Device is what copies: CpuMover (executor/kernels/loops/strided_copy.h), CudaMover.

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"

namespace cooper {

template <typename Device>
absl::Status CopyKernel(const KernelContext& c) {
  return Device::CopyAll(c, c.inputs[0], c.reqs[0], c.outputs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_RESHAPE_KERNELS_H_
