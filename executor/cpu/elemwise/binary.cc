// Kernels of operators on two arrays of one shape, and of their gradients.

#include "executor/cpu/elemwise/binary_functions.h"
#include "executor/cpu/elemwise/elemwise_kernel.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

constexpr DeviceType kCpu = DeviceType::kCpu;

const KernelRegistrar kKernels[] = {
    {"elemwise_add", kCpu, ElemwiseKernel<Add>},
    {"elemwise_sub", kCpu, ElemwiseKernel<Sub>},
    {"elemwise_mul", kCpu, ElemwiseKernel<Mul>},
    {"elemwise_div", kCpu, ElemwiseKernel<Div>},
    {"_scatter_elemwise_div", kCpu, ElemwiseKernel<Div>},
    {"_grad_add", kCpu, ElemwiseKernel<Add>},
    {"_maximum", kCpu, ElemwiseKernel<Maximum>},
    {"_minimum", kCpu, ElemwiseKernel<Minimum>},
    {"_power", kCpu, ElemwiseKernel<Power>},
    {"_mod", kCpu, ElemwiseKernel<Mod>},
    {"_hypot", kCpu, ElemwiseKernel<Hypot>},
    {"_equal", kCpu, ElemwiseKernel<Equal>},
    {"_not_equal", kCpu, ElemwiseKernel<NotEqual>},
    {"_greater", kCpu, ElemwiseKernel<Greater>},
    {"_greater_equal", kCpu, ElemwiseKernel<GreaterEqual>},
    {"_lesser", kCpu, ElemwiseKernel<Lesser>},
    {"_lesser_equal", kCpu, ElemwiseKernel<LesserEqual>},
    {"_logical_and", kCpu, ElemwiseKernel<LogicalAnd>},
    {"_logical_or", kCpu, ElemwiseKernel<LogicalOr>},
    {"_logical_xor", kCpu, ElemwiseKernel<LogicalXor>},
    {"_backward_div_rhs", kCpu, ElemwiseKernel<DivGradRhs>},
    {"_backward_maximum_lhs", kCpu, ElemwiseKernel<MaximumGradLhs>},
    {"_backward_maximum_rhs", kCpu, ElemwiseKernel<MaximumGradRhs>},
    {"_backward_minimum_lhs", kCpu, ElemwiseKernel<MinimumGradLhs>},
    {"_backward_minimum_rhs", kCpu, ElemwiseKernel<MinimumGradRhs>},
    {"_backward_power_lhs", kCpu, ElemwiseKernel<PowerGradLhs>},
    {"_backward_power_rhs", kCpu, ElemwiseKernel<PowerGradRhs>},
    {"_backward_mod_rhs", kCpu, ElemwiseKernel<ModGradRhs>},
    {"_backward_hypot_lhs", kCpu, ElemwiseKernel<HypotGradLhs>},
    {"_backward_hypot_rhs", kCpu, ElemwiseKernel<HypotGradRhs>},
};

}  // namespace
}  // namespace cooper
