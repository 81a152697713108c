// Kernels of operators that repeat an array along its axes of extent 1, and of their gradient.

#include "absl/status/statusor.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/map_reduce.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;
using enum OneInputGradientArrays::Input;

absl::Status BroadcastCpu(const KernelContext& c) {
  return RunBroadcast(kElemwiseLoops<Same>, {OperandOf(c.inputs[kData])},
                      {c.inputs[kData].shape.dims()}, c.outputs[0].shape.dims(), c.outputs[0],
                      c.reqs[0]);
}

absl::Status BroadcastBackwardCpu(const KernelContext& c) {
  const absl::Span<const int64_t> full = c.inputs[kOgrad].shape.dims();
  return RunReduction({}, full, {OperandOf(c.inputs[kOgrad])}, {full}, c.outputs[0],
                      c.outputs[0].shape.dims(), c.reqs[0], c.workspace);
}

absl::StatusOr<Prepared> PrepareBroadcastBackward(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ReductionWorkspace(c.outputs[0], c.reqs[0])};
}

COOPER_REGISTER_KERNEL(broadcast_axis, DeviceType::kCpu, kAnyDType, BroadcastCpu);
COOPER_REGISTER_KERNEL(broadcast_to, DeviceType::kCpu, kAnyDType, BroadcastCpu);
COOPER_REGISTER_KERNEL(broadcast_like, DeviceType::kCpu, kAnyDType, BroadcastCpu);
COOPER_REGISTER_KERNEL(_broadcast_backward, DeviceType::kCpu, kAnyDType, BroadcastBackwardCpu,
                       PrepareBroadcastBackward);

}  // namespace
}  // namespace cooper
