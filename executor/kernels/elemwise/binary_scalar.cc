// Kernels of operators on an array and a scalar: operators on two arrays with a scalar as one
// operand.

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;

// Computes f(data, scalar).
template <typename F>
absl::Status Scalar(const KernelContext& c) {
  return RunElemwise(kElemwiseLoops<F>,
                     {OperandOf(c.inputs[kData]), OperandOf(c.param<ScalarParam>().scalar)},
                     c.outputs[0], c.reqs[0]);
}

// Computes f(scalar, data).
template <typename F>
absl::Status ScalarFirst(const KernelContext& c) {
  return RunElemwise(kElemwiseLoops<F>,
                     {OperandOf(c.param<ScalarParam>().scalar), OperandOf(c.inputs[kData])},
                     c.outputs[0], c.reqs[0]);
}

// Computes f(ograd, data, scalar).
template <typename F>
absl::Status Gradient(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return RunElemwise(kElemwiseLoops<F>,
                     {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]),
                      OperandOf(c.param<ScalarParam>().scalar)},
                     c.outputs[0], c.reqs[0]);
}

// Computes f(ograd, scalar, data).
template <typename F>
absl::Status GradientScalarFirst(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return RunElemwise(kElemwiseLoops<F>,
                     {OperandOf(c.inputs[kOgrad]), OperandOf(c.param<ScalarParam>().scalar),
                      OperandOf(c.inputs[kData])},
                     c.outputs[0], c.reqs[0]);
}

constexpr DeviceType kCpu = DeviceType::kCpu;

const KernelRegistrar kKernels[] = {
    {"_plus_scalar", kCpu, kAnyDType, Scalar<Add>},
    {"_scatter_plus_scalar", kCpu, kAnyDType, Scalar<Add>},
    {"_minus_scalar", kCpu, kAnyDType, Scalar<Sub>},
    {"_scatter_minus_scalar", kCpu, kAnyDType, Scalar<Sub>},
    {"_rminus_scalar", kCpu, kAnyDType, ScalarFirst<Sub>},
    {"_mul_scalar", kCpu, kAnyDType, Scalar<Mul>},
    {"_div_scalar", kCpu, kAnyDType, Scalar<Div>},
    {"_rdiv_scalar", kCpu, kAnyDType, ScalarFirst<Div>},
    {"_mod_scalar", kCpu, kAnyDType, Scalar<Mod>},
    {"_rmod_scalar", kCpu, kAnyDType, ScalarFirst<Mod>},
    {"_maximum_scalar", kCpu, kAnyDType, Scalar<Maximum>},
    {"_minimum_scalar", kCpu, kAnyDType, Scalar<Minimum>},
    {"_power_scalar", kCpu, kAnyDType, Scalar<Power>},
    {"_rpower_scalar", kCpu, kAnyDType, ScalarFirst<Power>},
    {"_hypot_scalar", kCpu, kAnyDType, Scalar<Hypot>},
    {"_equal_scalar", kCpu, kAnyDType, Scalar<Equal>},
    {"_not_equal_scalar", kCpu, kAnyDType, Scalar<NotEqual>},
    {"_greater_scalar", kCpu, kAnyDType, Scalar<Greater>},
    {"_greater_equal_scalar", kCpu, kAnyDType, Scalar<GreaterEqual>},
    {"_lesser_scalar", kCpu, kAnyDType, Scalar<Lesser>},
    {"_lesser_equal_scalar", kCpu, kAnyDType, Scalar<LesserEqual>},
    {"_logical_and_scalar", kCpu, kAnyDType, Scalar<LogicalAnd>},
    {"_logical_or_scalar", kCpu, kAnyDType, Scalar<LogicalOr>},
    {"_logical_xor_scalar", kCpu, kAnyDType, Scalar<LogicalXor>},
    {"_backward_rdiv_scalar", kCpu, kAnyDType, GradientScalarFirst<DivGradRhs>},
    {"_backward_rmod_scalar", kCpu, kAnyDType, GradientScalarFirst<ModGradRhs>},
    {"_backward_maximum_scalar", kCpu, kAnyDType, Gradient<MaximumGradLhs>},
    {"_backward_minimum_scalar", kCpu, kAnyDType, Gradient<MinimumGradLhs>},
    {"_backward_power_scalar", kCpu, kAnyDType, Gradient<PowerGradLhs>},
    {"_backward_rpower_scalar", kCpu, kAnyDType, GradientScalarFirst<PowerGradRhs>},
    {"_backward_hypot_scalar", kCpu, kAnyDType, Gradient<HypotGradLhs>},
};

}  // namespace
}  // namespace cooper
