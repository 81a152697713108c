// Kernels of the operators whose output is their input's memory under another shape. They run only
// where the two could not share it.

#include "absl/status/status.h"
#include "executor/cpu/shape/strided_copy.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

absl::Status CopyCpu(const KernelContext& c) {
  return CopyElements(c.inputs[0], c.reqs[0], c.outputs[0]);
}

COOPER_REGISTER_KERNEL(Reshape, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(reshape_like, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(Flatten, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(expand_dims, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(squeeze, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(_backward_reshape, DeviceType::kCpu, kAnyDType, CopyCpu);

}  // namespace
}  // namespace cooper
