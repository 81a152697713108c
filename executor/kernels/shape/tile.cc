// Kernels of tile, repeat and reverse, and the sums that are the gradients of tile and repeat.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/tile_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/tile_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(tile, DeviceType::kCpu, kAnyDType, TileKernel<CpuMover, TileParam>);
COOPER_REGISTER_KERNEL(_backward_tile, DeviceType::kCpu, kAnyDType,
                       TileBackwardKernel<CpuMover, TileParam>);
COOPER_REGISTER_KERNEL(repeat, DeviceType::kCpu, kAnyDType, TileKernel<CpuMover, RepeatParam>);
COOPER_REGISTER_KERNEL(_backward_repeat, DeviceType::kCpu, kAnyDType,
                       TileBackwardKernel<CpuMover, RepeatParam>);
COOPER_REGISTER_KERNEL(reverse, DeviceType::kCpu, kAnyDType, ReverseKernel<CpuMover>);

}  // namespace
}  // namespace cooper
