// Kernels of the running sum and its gradient.

#include <cstdint>

#include "executor/cpu/elemwise/element_block.h"
#include "executor/cpu/row_grain.h"
#include "executor/elements/axis_view.h"
#include "executor/elements/wrapping.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/one_input.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;

// Sums along the axis in the type to compute in for the output, from the first element on or, for
// the gradient, from the last.
template <typename C>
void RunningSum(const AxisView& view, const ArrayView& input, const ArrayView& output, WriteReq req,
                bool from_last) {
  ParallelForPlain(view.lines(), RowGrain(view.length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t base = view.First(i);
      C sum = 0;
      for (int64_t k = 0; k < view.length; ++k) {
        const int64_t step = from_last ? view.length - 1 - k : k;
        const int64_t at = base + step * view.inner;
        C value;
        LoadBlock(ElementAt(input.data, input.dtype, at), input.dtype, 1, &value);
        sum = WrapAdd(sum, value);
        StoreBlock(&sum, 1, req, ElementAt(output.data, output.dtype, at), output.dtype);
      }
    }
  });
}

// The axis is one of `shape`, the forward input's.
absl::Status RunCumsum(const KernelContext& c, const Shape& shape, bool from_last) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(shape, c.param<CumsumParam>().axis));
  DispatchComputeType(c.outputs[0].dtype, /*exact_integers=*/true, [&](auto zero) {
    RunningSum<decltype(zero)>(view, c.inputs[kData], c.outputs[0], c.reqs[0], from_last);
  });
  return absl::OkStatus();
}

absl::Status CumsumCpu(const KernelContext& c) {
  return RunCumsum(c, c.inputs[kData].shape, false);
}

absl::Status CumsumBackwardCpu(const KernelContext& c) {
  return RunCumsum(c, c.outputs[0].shape, true);
}

COOPER_REGISTER_KERNEL(_np_cumsum, DeviceType::kCpu, kAnyDType, CumsumCpu);
COOPER_REGISTER_KERNEL(_backward_np_cumsum, DeviceType::kCpu, kAnyDType, CumsumBackwardCpu);

}  // namespace
}  // namespace cooper
