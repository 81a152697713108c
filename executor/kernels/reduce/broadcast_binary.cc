// Kernels of binary operators with broadcasting, and of their gradients. The gradient of a side is
// the sum of an elementwise function over the axes along which the side was repeated.

#include "absl/status/statusor.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/map_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

absl::Status RunSide(const ElemwiseLoops* map, const KernelContext& c) {
  ElemwiseOperand operands[kMaxElemwiseArity];
  absl::Span<const int64_t> shapes[kMaxElemwiseArity];
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    operands[i] = OperandOf(c.inputs[i]);
    shapes[i] = c.inputs[i].shape.dims();
  }
  // Input 0, ograd, has the full shape.
  return RunReduction({.map = map}, shapes[0], {operands, c.inputs.size()},
                      {shapes, c.inputs.size()}, c.outputs[0], c.outputs[0].shape.dims(), c.reqs[0],
                      c.workspace);
}

// Sums F of all inputs.
template <typename F>
absl::Status Side(const KernelContext& c) {
  return RunSide(&kElemwiseLoops<F>, c);
}

// Sums ograd.
absl::Status SideSum(const KernelContext& c) { return RunSide(nullptr, c); }

absl::StatusOr<Prepared> PrepareSide(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ReductionWorkspace(c.outputs[0], c.reqs[0])};
}

constexpr DeviceType kCpu = DeviceType::kCpu;

// Inputs of equal shape need no broadcast.
const KernelRegistrar kKernels[] = {
    {"broadcast_add", kCpu, kAnyDType, BroadcastKernel<Add>},
    {"broadcast_sub", kCpu, kAnyDType, BroadcastKernel<Sub>},
    {"broadcast_mul", kCpu, kAnyDType, BroadcastKernel<Mul>},
    {"broadcast_div", kCpu, kAnyDType, BroadcastKernel<Div>},
    {"broadcast_mod", kCpu, kAnyDType, BroadcastKernel<Mod>},
    {"broadcast_power", kCpu, kAnyDType, BroadcastKernel<Power>},
    {"broadcast_maximum", kCpu, kAnyDType, BroadcastKernel<Maximum>},
    {"broadcast_minimum", kCpu, kAnyDType, BroadcastKernel<Minimum>},
    {"broadcast_hypot", kCpu, kAnyDType, BroadcastKernel<Hypot>},
    {"broadcast_equal", kCpu, kAnyDType, BroadcastKernel<Equal>},
    {"broadcast_not_equal", kCpu, kAnyDType, BroadcastKernel<NotEqual>},
    {"broadcast_greater", kCpu, kAnyDType, BroadcastKernel<Greater>},
    {"broadcast_greater_equal", kCpu, kAnyDType, BroadcastKernel<GreaterEqual>},
    {"broadcast_lesser", kCpu, kAnyDType, BroadcastKernel<Lesser>},
    {"broadcast_lesser_equal", kCpu, kAnyDType, BroadcastKernel<LesserEqual>},
    {"broadcast_logical_and", kCpu, kAnyDType, BroadcastKernel<LogicalAnd>},
    {"broadcast_logical_or", kCpu, kAnyDType, BroadcastKernel<LogicalOr>},
    {"broadcast_logical_xor", kCpu, kAnyDType, BroadcastKernel<LogicalXor>},
};

const KernelRegistrar kGradientKernels[] = {
    {"_backward_broadcast_add_lhs", kCpu, kAnyDType, SideSum, PrepareSide},
    {"_backward_broadcast_add_rhs", kCpu, kAnyDType, SideSum, PrepareSide},
    {"_backward_broadcast_sub_lhs", kCpu, kAnyDType, SideSum, PrepareSide},
    {"_backward_broadcast_sub_rhs", kCpu, kAnyDType, Side<Negative>, PrepareSide},
    {"_backward_broadcast_mul_lhs", kCpu, kAnyDType, Side<Mul>, PrepareSide},
    {"_backward_broadcast_mul_rhs", kCpu, kAnyDType, Side<Mul>, PrepareSide},
    {"_backward_broadcast_div_lhs", kCpu, kAnyDType, Side<Div>, PrepareSide},
    {"_backward_broadcast_div_rhs", kCpu, kAnyDType, Side<DivGradRhs>, PrepareSide},
    {"_backward_broadcast_mod_lhs", kCpu, kAnyDType, SideSum, PrepareSide},
    {"_backward_broadcast_mod_rhs", kCpu, kAnyDType, Side<ModGradRhs>, PrepareSide},
    {"_backward_broadcast_power_lhs", kCpu, kAnyDType, Side<PowerGradLhs>, PrepareSide},
    {"_backward_broadcast_power_rhs", kCpu, kAnyDType, Side<PowerGradRhs>, PrepareSide},
    {"_backward_broadcast_maximum_lhs", kCpu, kAnyDType, Side<MaximumGradLhs>, PrepareSide},
    {"_backward_broadcast_maximum_rhs", kCpu, kAnyDType, Side<MaximumGradRhs>, PrepareSide},
    {"_backward_broadcast_minimum_lhs", kCpu, kAnyDType, Side<MinimumGradLhs>, PrepareSide},
    {"_backward_broadcast_minimum_rhs", kCpu, kAnyDType, Side<MinimumGradRhs>, PrepareSide},
    {"_backward_broadcast_hypot_lhs", kCpu, kAnyDType, Side<HypotGradLhs>, PrepareSide},
    {"_backward_broadcast_hypot_rhs", kCpu, kAnyDType, Side<HypotGradRhs>, PrepareSide},
};

}  // namespace
}  // namespace cooper
