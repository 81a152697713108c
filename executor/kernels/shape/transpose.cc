// Kernels of transpose and SwapAxis.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/transpose_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/transpose_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(transpose, DeviceType::kCpu, kAnyDType,
                       PermuteKernel<CpuMover, TransposeParam>);
COOPER_REGISTER_KERNEL(SwapAxis, DeviceType::kCpu, kAnyDType,
                       PermuteKernel<CpuMover, SwapAxisParam>);

}  // namespace
}  // namespace cooper
