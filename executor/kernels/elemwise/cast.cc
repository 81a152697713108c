// Kernels of conversions between dtypes.

#include "executor/kernels/loops/convert.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

absl::Status CastCpu(const KernelContext& c) {
  ConvertArray(c.inputs[0], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

absl::Status MulticastCpu(const KernelContext& c) {
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    ConvertArray(c.inputs[i], c.outputs[i], c.reqs[i]);
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(Cast, DeviceType::kCpu, kAnyDType, CastCpu);
COOPER_REGISTER_KERNEL(amp_cast, DeviceType::kCpu, kAnyDType, CastCpu);
COOPER_REGISTER_KERNEL(amp_multicast, DeviceType::kCpu, kAnyDType, MulticastCpu);
COOPER_REGISTER_KERNEL(_backward_amp_multicast, DeviceType::kCpu, kAnyDType, MulticastCpu);
COOPER_REGISTER_KERNEL(_backward_cast, DeviceType::kCpu, kAnyDType, CastCpu);

}  // namespace
}  // namespace cooper
