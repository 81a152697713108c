// Kernels of transpose and SwapAxis.

#include "absl/status/status.h"
#include "executor/cpu/shape/strided_copy.h"
#include "executor/kernel.h"
#include "symbol/ops/shape/transpose_param.h"

namespace cooper {
namespace {

template <typename Param>
absl::Status PermuteCpu(const KernelContext& c) {
  const auto& param = c.param<Param>();
  const Shape& in = c.inputs[0].shape;
  const Shape& out = c.outputs[0].shape;
  StridedLoop loop;
  for (int i = 0; i < out.rank(); ++i) {
    loop.Add(out[i], StrideOf(in, param.source_axis(i, in.rank())), StrideOf(out, i));
  }
  return StridedCopy(loop, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data, c.outputs[0].data);
}

COOPER_REGISTER_KERNEL(transpose, DeviceType::kCpu, kAnyDType, PermuteCpu<TransposeParam>);
COOPER_REGISTER_KERNEL(SwapAxis, DeviceType::kCpu, kAnyDType, PermuteCpu<SwapAxisParam>);

}  // namespace
}  // namespace cooper
