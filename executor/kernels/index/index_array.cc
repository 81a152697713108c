// Kernel of _contrib_index_array for CPUs.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/index_array_element.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

absl::Status IndexArrayCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(
      const auto element,
      IndexArrayElement::Of(c.inputs[OneInputArrays::kData].shape, c.param<IndexArrayParam>()));
  auto* const out = c.outputs[0].as<int64_t>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(c.outputs[0].size(), 8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = element(i) + (add ? out[i] : 0);
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_index_array, DeviceType::kCpu, kAnyDType, IndexArrayCpu);

}  // namespace
}  // namespace cooper
