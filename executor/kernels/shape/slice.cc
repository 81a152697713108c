// Kernels that read a slice of an array, write one into zeros, or assign to one.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/slice_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/slice_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(slice, DeviceType::kCpu, kAnyDType, PartKernel<CpuMover, SliceParam>);
COOPER_REGISTER_KERNEL(_backward_slice, DeviceType::kCpu, kAnyDType,
                       PartBackwardKernel<CpuMover, SliceParam>);
COOPER_REGISTER_KERNEL(slice_axis, DeviceType::kCpu, kAnyDType,
                       PartKernel<CpuMover, SliceAxisParam>);
COOPER_REGISTER_KERNEL(_backward_slice_axis, DeviceType::kCpu, kAnyDType,
                       PartBackwardKernel<CpuMover, SliceAxisParam>);
COOPER_REGISTER_KERNEL(slice_like, DeviceType::kCpu, kAnyDType, SliceLikeKernel<CpuMover>);
COOPER_REGISTER_KERNEL(_backward_slice_like, DeviceType::kCpu, kAnyDType,
                       SliceLikeBackwardKernel<CpuMover>);
COOPER_REGISTER_KERNEL(Crop, DeviceType::kCpu, kAnyDType, PartKernel<CpuMover, CropParam>);
COOPER_REGISTER_KERNEL(_backward_Crop, DeviceType::kCpu, kAnyDType,
                       PartBackwardKernel<CpuMover, CropParam>);
COOPER_REGISTER_KERNEL(_slice_assign, DeviceType::kCpu, kAnyDType, SliceAssignKernel<CpuMover>,
                       PrepareAssign);
COOPER_REGISTER_KERNEL(_slice_assign_scalar, DeviceType::kCpu, kAnyDType,
                       SliceAssignScalarKernel<CpuMover>, PrepareAssign);

}  // namespace
}  // namespace cooper
