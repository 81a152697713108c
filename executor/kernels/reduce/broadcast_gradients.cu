// GPU kernels of the gradients of binary operators with broadcasting: a sum of an elementwise
// function over the axes along which a side was repeated.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/element_reduce.h"
#include "executor/kernels/reducers/element_reduce_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

// Sums F of the inputs. The first input, ograd, has the full shape.
template <typename F>
absl::Status Side(const KernelContext& c) {
  const InputOperands<F::kArity> inputs(c.inputs);
  return RunElementReduce(c, ElementReduceOf<Reducer::kSum, F>(), {}, inputs.shapes[0],
                          inputs.operands, inputs.shapes, c.outputs[0], c.outputs[0].shape.dims(),
                          c.reqs[0], c.workspace);
}

absl::StatusOr<Prepared> PrepareSide(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ElementReduceWorkspace(c.outputs[0], c.reqs[0])};
}

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_backward_broadcast_add_lhs", kGpu, kAnyDType, Side<Same>, PrepareSide},
    {"_backward_broadcast_add_rhs", kGpu, kAnyDType, Side<Same>, PrepareSide},
    {"_backward_broadcast_sub_lhs", kGpu, kAnyDType, Side<Same>, PrepareSide},
    {"_backward_broadcast_sub_rhs", kGpu, kAnyDType, Side<Negative>, PrepareSide},
    {"_backward_broadcast_mul_lhs", kGpu, kAnyDType, Side<Mul>, PrepareSide},
    {"_backward_broadcast_mul_rhs", kGpu, kAnyDType, Side<Mul>, PrepareSide},
    {"_backward_broadcast_div_lhs", kGpu, kAnyDType, Side<Div>, PrepareSide},
    {"_backward_broadcast_div_rhs", kGpu, kAnyDType, Side<DivGradRhs>, PrepareSide},
    {"_backward_broadcast_mod_lhs", kGpu, kAnyDType, Side<Same>, PrepareSide},
    {"_backward_broadcast_mod_rhs", kGpu, kAnyDType, Side<ModGradRhs>, PrepareSide},
    {"_backward_broadcast_power_lhs", kGpu, kAnyDType, Side<PowerGradLhs>, PrepareSide},
    {"_backward_broadcast_power_rhs", kGpu, kAnyDType, Side<PowerGradRhs>, PrepareSide},
    {"_backward_broadcast_maximum_lhs", kGpu, kAnyDType, Side<MaximumGradLhs>, PrepareSide},
    {"_backward_broadcast_maximum_rhs", kGpu, kAnyDType, Side<MaximumGradRhs>, PrepareSide},
    {"_backward_broadcast_minimum_lhs", kGpu, kAnyDType, Side<MinimumGradLhs>, PrepareSide},
    {"_backward_broadcast_minimum_rhs", kGpu, kAnyDType, Side<MinimumGradRhs>, PrepareSide},
    {"_backward_broadcast_hypot_lhs", kGpu, kAnyDType, Side<HypotGradLhs>, PrepareSide},
    {"_backward_broadcast_hypot_rhs", kGpu, kAnyDType, Side<HypotGradRhs>, PrepareSide},
};

}  // namespace
}  // namespace cooper
