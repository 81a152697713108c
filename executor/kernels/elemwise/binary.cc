// Kernels of operators on two arrays of one shape, and of their gradients.

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

constexpr DeviceType kCpu = DeviceType::kCpu;

const KernelRegistrar kKernels[] = {
    {"elemwise_add", kCpu, kAnyDType, ElemwiseKernel<Add>},
    {"elemwise_sub", kCpu, kAnyDType, ElemwiseKernel<Sub>},
    {"elemwise_mul", kCpu, kAnyDType, ElemwiseKernel<Mul>},
    {"elemwise_div", kCpu, kAnyDType, ElemwiseKernel<Div>},
    {"_scatter_elemwise_div", kCpu, kAnyDType, ElemwiseKernel<Div>},
    {"_grad_add", kCpu, kAnyDType, ElemwiseKernel<Add>},
    {"_maximum", kCpu, kAnyDType, ElemwiseKernel<Maximum>},
    {"_minimum", kCpu, kAnyDType, ElemwiseKernel<Minimum>},
    {"_power", kCpu, kAnyDType, ElemwiseKernel<Power>},
    {"_mod", kCpu, kAnyDType, ElemwiseKernel<Mod>},
    {"_hypot", kCpu, kAnyDType, ElemwiseKernel<Hypot>},
    {"_equal", kCpu, kAnyDType, ElemwiseKernel<Equal>},
    {"_not_equal", kCpu, kAnyDType, ElemwiseKernel<NotEqual>},
    {"_greater", kCpu, kAnyDType, ElemwiseKernel<Greater>},
    {"_greater_equal", kCpu, kAnyDType, ElemwiseKernel<GreaterEqual>},
    {"_lesser", kCpu, kAnyDType, ElemwiseKernel<Lesser>},
    {"_lesser_equal", kCpu, kAnyDType, ElemwiseKernel<LesserEqual>},
    {"_logical_and", kCpu, kAnyDType, ElemwiseKernel<LogicalAnd>},
    {"_logical_or", kCpu, kAnyDType, ElemwiseKernel<LogicalOr>},
    {"_logical_xor", kCpu, kAnyDType, ElemwiseKernel<LogicalXor>},
    {"_backward_div_rhs", kCpu, kAnyDType, ElemwiseKernel<DivGradRhs>},
    {"_backward_maximum_lhs", kCpu, kAnyDType, ElemwiseKernel<MaximumGradLhs>},
    {"_backward_maximum_rhs", kCpu, kAnyDType, ElemwiseKernel<MaximumGradRhs>},
    {"_backward_minimum_lhs", kCpu, kAnyDType, ElemwiseKernel<MinimumGradLhs>},
    {"_backward_minimum_rhs", kCpu, kAnyDType, ElemwiseKernel<MinimumGradRhs>},
    {"_backward_power_lhs", kCpu, kAnyDType, ElemwiseKernel<PowerGradLhs>},
    {"_backward_power_rhs", kCpu, kAnyDType, ElemwiseKernel<PowerGradRhs>},
    {"_backward_mod_rhs", kCpu, kAnyDType, ElemwiseKernel<ModGradRhs>},
    {"_backward_hypot_lhs", kCpu, kAnyDType, ElemwiseKernel<HypotGradLhs>},
    {"_backward_hypot_rhs", kCpu, kAnyDType, ElemwiseKernel<HypotGradRhs>},
};

}  // namespace
}  // namespace cooper
