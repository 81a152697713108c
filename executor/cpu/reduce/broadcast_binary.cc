// Kernels of operators on two arrays that are broadcast together, and of their gradients: a sum of
// an elementwise function over the axes along which a side was repeated.

#include "absl/status/statusor.h"
#include "executor/cpu/elemwise/binary_functions.h"
#include "executor/cpu/elemwise/elemwise_kernel.h"
#include "executor/cpu/reduce/map_reduce.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

struct Negative {
  static constexpr int kArity = 1;
  static constexpr bool kExactIntegers = true;
  template <typename C>
  static C Apply(C x) {
    return -x;
  }
};

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

// The sum of f(all inputs).
template <typename F>
absl::Status Side(const KernelContext& c) {
  return RunSide(&kElemwiseLoops<F>, c);
}

// The sum of ograd.
absl::Status SideSum(const KernelContext& c) { return RunSide(nullptr, c); }

absl::StatusOr<Prepared> PrepareSide(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ReductionWorkspace(c.outputs[0], c.reqs[0])};
}

constexpr DeviceType kCpu = DeviceType::kCpu;

// Of arrays of one size nothing is broadcast.
const KernelRegistrar kKernels[] = {
    {"broadcast_add", kCpu, BroadcastKernel<Add>},
    {"broadcast_sub", kCpu, BroadcastKernel<Sub>},
    {"broadcast_mul", kCpu, BroadcastKernel<Mul>},
    {"broadcast_div", kCpu, BroadcastKernel<Div>},
    {"broadcast_mod", kCpu, BroadcastKernel<Mod>},
    {"broadcast_power", kCpu, BroadcastKernel<Power>},
    {"broadcast_maximum", kCpu, BroadcastKernel<Maximum>},
    {"broadcast_minimum", kCpu, BroadcastKernel<Minimum>},
    {"broadcast_hypot", kCpu, BroadcastKernel<Hypot>},
    {"broadcast_equal", kCpu, BroadcastKernel<Equal>},
    {"broadcast_not_equal", kCpu, BroadcastKernel<NotEqual>},
    {"broadcast_greater", kCpu, BroadcastKernel<Greater>},
    {"broadcast_greater_equal", kCpu, BroadcastKernel<GreaterEqual>},
    {"broadcast_lesser", kCpu, BroadcastKernel<Lesser>},
    {"broadcast_lesser_equal", kCpu, BroadcastKernel<LesserEqual>},
    {"broadcast_logical_and", kCpu, BroadcastKernel<LogicalAnd>},
    {"broadcast_logical_or", kCpu, BroadcastKernel<LogicalOr>},
    {"broadcast_logical_xor", kCpu, BroadcastKernel<LogicalXor>},
};

const KernelRegistrar kGradientKernels[] = {
    {"_backward_broadcast_add_lhs", kCpu, SideSum, PrepareSide},
    {"_backward_broadcast_add_rhs", kCpu, SideSum, PrepareSide},
    {"_backward_broadcast_sub_lhs", kCpu, SideSum, PrepareSide},
    {"_backward_broadcast_sub_rhs", kCpu, Side<Negative>, PrepareSide},
    {"_backward_broadcast_mul_lhs", kCpu, Side<Mul>, PrepareSide},
    {"_backward_broadcast_mul_rhs", kCpu, Side<Mul>, PrepareSide},
    {"_backward_broadcast_div_lhs", kCpu, Side<Div>, PrepareSide},
    {"_backward_broadcast_div_rhs", kCpu, Side<DivGradRhs>, PrepareSide},
    {"_backward_broadcast_mod_lhs", kCpu, SideSum, PrepareSide},
    {"_backward_broadcast_mod_rhs", kCpu, Side<ModGradRhs>, PrepareSide},
    {"_backward_broadcast_power_lhs", kCpu, Side<PowerGradLhs>, PrepareSide},
    {"_backward_broadcast_power_rhs", kCpu, Side<PowerGradRhs>, PrepareSide},
    {"_backward_broadcast_maximum_lhs", kCpu, Side<MaximumGradLhs>, PrepareSide},
    {"_backward_broadcast_maximum_rhs", kCpu, Side<MaximumGradRhs>, PrepareSide},
    {"_backward_broadcast_minimum_lhs", kCpu, Side<MinimumGradLhs>, PrepareSide},
    {"_backward_broadcast_minimum_rhs", kCpu, Side<MinimumGradRhs>, PrepareSide},
    {"_backward_broadcast_hypot_lhs", kCpu, Side<HypotGradLhs>, PrepareSide},
    {"_backward_broadcast_hypot_rhs", kCpu, Side<HypotGradRhs>, PrepareSide},
};

}  // namespace
}  // namespace cooper
