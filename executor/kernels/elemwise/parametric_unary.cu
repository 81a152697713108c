// GPU kernels of the functions of one array with parameters, and of their gradients.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/parametric_unary_kernels.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

struct GpuDevice {
  template <typename F>
  static absl::Status Run(const KernelContext& c, absl::Span<const ElemwiseOperand> operands) {
    return RunElementMap(c, ElementMapOf<F>(), operands, c.outputs[0], c.reqs[0]);
  }
};

COOPER_REGISTER_KERNEL(_contrib_div_sqrt_dim, DeviceType::kGpu, kAnyDType,
                       DivSqrtDimKernel<GpuDevice>);
COOPER_REGISTER_KERNEL(clip, DeviceType::kGpu, kAnyDType, ClipKernel<GpuDevice, Clip>);
COOPER_REGISTER_KERNEL(_backward_clip, DeviceType::kGpu, kAnyDType,
                       ClipKernel<GpuDevice, ClipGrad>);
COOPER_REGISTER_KERNEL(hard_sigmoid, DeviceType::kGpu, kAnyDType,
                       HardSigmoidKernel<GpuDevice, HardSigmoid>);
COOPER_REGISTER_KERNEL(_backward_hard_sigmoid, DeviceType::kGpu, kAnyDType,
                       HardSigmoidKernel<GpuDevice, HardSigmoidGrad>);
COOPER_REGISTER_KERNEL(smooth_l1, DeviceType::kGpu, kAnyDType, SmoothL1Kernel<GpuDevice>);
COOPER_REGISTER_KERNEL(_backward_smooth_l1, DeviceType::kGpu, kAnyDType,
                       SmoothL1BackwardKernel<GpuDevice>);

}  // namespace
}  // namespace cooper
