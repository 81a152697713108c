// Kernels of diag and its gradient.

#include "executor/cpu/shape/strided_copy.h"
#include "executor/program/kernel.h"
#include "executor/strided/diag_kernels.h"
#include "symbol/ops/shape/diag_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(diag, DeviceType::kCpu, kAnyDType, DiagKernel<CpuMover>);
COOPER_REGISTER_KERNEL(_backward_diag, DeviceType::kCpu, kAnyDType, DiagBackwardKernel<CpuMover>);

}  // namespace
}  // namespace cooper
