// Kernels of the functions of one array with parameters, and of their gradients.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/parametric_unary_kernels.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

struct CpuDevice {
  template <typename F>
  static absl::Status Run(const KernelContext& c, absl::Span<const ElemwiseOperand> operands) {
    return RunElemwise(kElemwiseLoops<F>, operands, c.outputs[0], c.reqs[0]);
  }
};

COOPER_REGISTER_KERNEL(_contrib_div_sqrt_dim, DeviceType::kCpu, kAnyDType,
                       DivSqrtDimKernel<CpuDevice>);
COOPER_REGISTER_KERNEL(clip, DeviceType::kCpu, kAnyDType, ClipKernel<CpuDevice, Clip>);
COOPER_REGISTER_KERNEL(_backward_clip, DeviceType::kCpu, kAnyDType,
                       ClipKernel<CpuDevice, ClipGrad>);
COOPER_REGISTER_KERNEL(hard_sigmoid, DeviceType::kCpu, kAnyDType,
                       HardSigmoidKernel<CpuDevice, HardSigmoid>);
COOPER_REGISTER_KERNEL(_backward_hard_sigmoid, DeviceType::kCpu, kAnyDType,
                       HardSigmoidKernel<CpuDevice, HardSigmoidGrad>);
COOPER_REGISTER_KERNEL(smooth_l1, DeviceType::kCpu, kAnyDType, SmoothL1Kernel<CpuDevice>);
COOPER_REGISTER_KERNEL(_backward_smooth_l1, DeviceType::kCpu, kAnyDType,
                       SmoothL1BackwardKernel<CpuDevice>);

}  // namespace
}  // namespace cooper
