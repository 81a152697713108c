// Kernels of conversions between dtypes.

#include "executor/cpu/elemwise/convert.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

absl::Status CastCpu(const KernelContext& c) {
  ConvertArray(c.inputs[0], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(Cast, DeviceType::kCpu, CastCpu);
COOPER_REGISTER_KERNEL(amp_cast, DeviceType::kCpu, CastCpu);
COOPER_REGISTER_KERNEL(_backward_cast, DeviceType::kCpu, CastCpu);

}  // namespace
}  // namespace cooper
