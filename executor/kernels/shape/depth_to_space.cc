// Kernels of depth_to_space and space_to_depth.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/depth_to_space_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/depth_to_space_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(depth_to_space, DeviceType::kCpu, kAnyDType, DepthToSpaceKernel<CpuMover>);
COOPER_REGISTER_KERNEL(space_to_depth, DeviceType::kCpu, kAnyDType, SpaceToDepthKernel<CpuMover>);

}  // namespace
}  // namespace cooper
