// GPU kernels of conversions between dtypes.

#include <cstddef>

#include "absl/status/status.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status CastGpu(const KernelContext& c) {
  return ConvertArrayGpu(c, c.inputs[0], c.outputs[0], c.reqs[0]);
}

absl::Status MulticastGpu(const KernelContext& c) {
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    COOPER_RETURN_IF_ERROR(ConvertArrayGpu(c, c.inputs[i], c.outputs[i], c.reqs[i]));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(Cast, DeviceType::kGpu, kAnyDType, CastGpu);
COOPER_REGISTER_KERNEL(amp_cast, DeviceType::kGpu, kAnyDType, CastGpu);
COOPER_REGISTER_KERNEL(amp_multicast, DeviceType::kGpu, kAnyDType, MulticastGpu);
COOPER_REGISTER_KERNEL(_backward_amp_multicast, DeviceType::kGpu, kAnyDType, MulticastGpu);
COOPER_REGISTER_KERNEL(_backward_cast, DeviceType::kGpu, kAnyDType, CastGpu);

}  // namespace
}  // namespace cooper
