// Kernels of the operators whose output is a view of their input with another shape. They run only
// if the two could not share memory.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/reshape_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(Reshape, DeviceType::kCpu, kAnyDType, CopyKernel<CpuMover>);
COOPER_REGISTER_KERNEL(reshape_like, DeviceType::kCpu, kAnyDType, CopyKernel<CpuMover>);
COOPER_REGISTER_KERNEL(Flatten, DeviceType::kCpu, kAnyDType, CopyKernel<CpuMover>);
COOPER_REGISTER_KERNEL(expand_dims, DeviceType::kCpu, kAnyDType, CopyKernel<CpuMover>);
COOPER_REGISTER_KERNEL(squeeze, DeviceType::kCpu, kAnyDType, CopyKernel<CpuMover>);
COOPER_REGISTER_KERNEL(_backward_reshape, DeviceType::kCpu, kAnyDType, CopyKernel<CpuMover>);

}  // namespace
}  // namespace cooper
