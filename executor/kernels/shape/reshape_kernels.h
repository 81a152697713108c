#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_RESHAPE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_RESHAPE_KERNELS_H_

// Kernels of operators whose output is a view of their input with another shape. They run only if
// input and output do not share memory. Device copies elements: CpuMover
// (executor/kernels/loops/strided_copy.h) or CudaMover.
//
// reshape.cc and movement.cu register it for Reshape, Flatten, expand_dims and similar operators.

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"

namespace cooper {

// Copies input 0 to output 0. The arrays have the same number of elements and the same dtype.
// Errors: those of Device::CopyAll.
template <typename Device>
absl::Status CopyKernel(const KernelContext& c) {
  return Device::CopyAll(c, c.inputs[0], c.reqs[0], c.outputs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_RESHAPE_KERNELS_H_
