// Kernel of _contrib_index_array for GPUs.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/index_array_element.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

__global__ void Fill(int64_t count, const IndexArrayElement element, int64_t* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    out[i] = element(i) + (add ? out[i] : 0);
  }
}

absl::Status IndexArrayGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(
      const auto element,
      IndexArrayElement::Of(c.inputs[OneInputArrays::kData].shape, c.param<IndexArrayParam>()));
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Fill, count, element, c.outputs[0].as<int64_t>(),
                        c.reqs[0] == WriteReq::kAdd);
}

COOPER_REGISTER_KERNEL(_contrib_index_array, DeviceType::kGpu, kAnyDType, IndexArrayGpu);

}  // namespace
}  // namespace cooper
