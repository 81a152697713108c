// Kernel of _contrib_index_array for CPUs.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/index_array_element.h"
#include "executor/kernels/launch/row_grain.h"
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
  const int64_t count = element.count;
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  auto* const out = c.outputs[0].as<int64_t>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(c.outputs[0].size() / count, RowGrain(count), [&](int64_t begin, int64_t end) {
    for (int64_t axis = 0; axis < count; ++axis) {
      // The position on the axis, and how many elements more have it.
      int64_t position = element(begin * count + axis);
      int64_t more = element.strides[axis] - begin % element.strides[axis];
      for (int64_t i = begin; i < end; ++i) {
        int64_t* const to = out + i * count + axis;
        *to = position + (add ? *to : 0);
        if (--more > 0) continue;
        more = element.strides[axis];
        position = position + 1 == element.extents[axis] ? 0 : position + 1;
      }
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_index_array, DeviceType::kCpu, kAnyDType, IndexArrayCpu);

}  // namespace
}  // namespace cooper
