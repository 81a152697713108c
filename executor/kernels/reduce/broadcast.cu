// GPU kernels of operators that repeat an array along its axes of extent 1, and of their gradient.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/element_reduce.h"
#include "executor/kernels/reducers/element_reduce_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {

// Instances that broadcast_gradients.cu and axis_reductions.cu use too.
template const ElementMap& ElementMapOf<Same>();
template const ElementReduce& ElementReduceOf<Reducer::kSum, Same>();

namespace {

absl::Status BroadcastBackwardGpu(const KernelContext& c) {
  const absl::Span<const int64_t> full = c.inputs[0].shape.dims();
  return RunElementReduce(c, ElementReduceOf<Reducer::kSum, Same>(), {}, full,
                          {OperandOf(c.inputs[0])}, {full}, c.outputs[0], c.outputs[0].shape.dims(),
                          c.reqs[0], c.workspace);
}

absl::StatusOr<Prepared> PrepareBroadcastBackward(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ElementReduceWorkspace(c.outputs[0], c.reqs[0])};
}

COOPER_REGISTER_KERNEL(broadcast_axis, DeviceType::kGpu, kAnyDType, BroadcastGpu<Same>);
COOPER_REGISTER_KERNEL(broadcast_to, DeviceType::kGpu, kAnyDType, BroadcastGpu<Same>);
COOPER_REGISTER_KERNEL(broadcast_like, DeviceType::kGpu, kAnyDType, BroadcastGpu<Same>);
COOPER_REGISTER_KERNEL(_broadcast_backward, DeviceType::kGpu, kAnyDType, BroadcastBackwardGpu,
                       PrepareBroadcastBackward);

}  // namespace
}  // namespace cooper
