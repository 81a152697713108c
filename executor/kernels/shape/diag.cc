// Kernels of diag and its gradient.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/diag_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/diag_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(diag, DeviceType::kCpu, kAnyDType, DiagKernel<CpuMover>);
COOPER_REGISTER_KERNEL(_backward_diag, DeviceType::kCpu, kAnyDType, DiagBackwardKernel<CpuMover>);

}  // namespace
}  // namespace cooper
