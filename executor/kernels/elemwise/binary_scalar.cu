// GPU kernels of operators on an array and a scalar: operators on two arrays with a scalar as one
// operand.

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/scalar_param.h"

namespace cooper {
namespace {

// Computes f(data, scalar).
template <typename F>
absl::Status Scalar(const KernelContext& c) {
  return RunElementMap(c, ElementMapOf<F>(),
                       {OperandOf(c.inputs[0]), OperandOf(c.param<ScalarParam>().scalar)},
                       c.outputs[0], c.reqs[0]);
}

// Computes f(scalar, data).
template <typename F>
absl::Status ScalarFirst(const KernelContext& c) {
  return RunElementMap(c, ElementMapOf<F>(),
                       {OperandOf(c.param<ScalarParam>().scalar), OperandOf(c.inputs[0])},
                       c.outputs[0], c.reqs[0]);
}

// Computes f(ograd, data, scalar).
template <typename F>
absl::Status Gradient(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return RunElementMap(c, ElementMapOf<F>(),
                       {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]),
                        OperandOf(c.param<ScalarParam>().scalar)},
                       c.outputs[0], c.reqs[0]);
}

// Computes f(ograd, scalar, data).
template <typename F>
absl::Status GradientScalarFirst(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return RunElementMap(c, ElementMapOf<F>(),
                       {OperandOf(c.inputs[kOgrad]), OperandOf(c.param<ScalarParam>().scalar),
                        OperandOf(c.inputs[kData])},
                       c.outputs[0], c.reqs[0]);
}

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_plus_scalar", kGpu, kAnyDType, Scalar<Add>},
    {"_scatter_plus_scalar", kGpu, kAnyDType, Scalar<Add>},
    {"_minus_scalar", kGpu, kAnyDType, Scalar<Sub>},
    {"_scatter_minus_scalar", kGpu, kAnyDType, Scalar<Sub>},
    {"_rminus_scalar", kGpu, kAnyDType, ScalarFirst<Sub>},
    {"_mul_scalar", kGpu, kAnyDType, Scalar<Mul>},
    {"_div_scalar", kGpu, kAnyDType, Scalar<Div>},
    {"_rdiv_scalar", kGpu, kAnyDType, ScalarFirst<Div>},
    {"_mod_scalar", kGpu, kAnyDType, Scalar<Mod>},
    {"_rmod_scalar", kGpu, kAnyDType, ScalarFirst<Mod>},
    {"_maximum_scalar", kGpu, kAnyDType, Scalar<Maximum>},
    {"_minimum_scalar", kGpu, kAnyDType, Scalar<Minimum>},
    {"_power_scalar", kGpu, kAnyDType, Scalar<Power>},
    {"_rpower_scalar", kGpu, kAnyDType, ScalarFirst<Power>},
    {"_hypot_scalar", kGpu, kAnyDType, Scalar<Hypot>},
    {"_equal_scalar", kGpu, kAnyDType, Scalar<Equal>},
    {"_not_equal_scalar", kGpu, kAnyDType, Scalar<NotEqual>},
    {"_greater_scalar", kGpu, kAnyDType, Scalar<Greater>},
    {"_greater_equal_scalar", kGpu, kAnyDType, Scalar<GreaterEqual>},
    {"_lesser_scalar", kGpu, kAnyDType, Scalar<Lesser>},
    {"_lesser_equal_scalar", kGpu, kAnyDType, Scalar<LesserEqual>},
    {"_logical_and_scalar", kGpu, kAnyDType, Scalar<LogicalAnd>},
    {"_logical_or_scalar", kGpu, kAnyDType, Scalar<LogicalOr>},
    {"_logical_xor_scalar", kGpu, kAnyDType, Scalar<LogicalXor>},
    {"_backward_rdiv_scalar", kGpu, kAnyDType, GradientScalarFirst<DivGradRhs>},
    {"_backward_rmod_scalar", kGpu, kAnyDType, GradientScalarFirst<ModGradRhs>},
    {"_backward_maximum_scalar", kGpu, kAnyDType, Gradient<MaximumGradLhs>},
    {"_backward_minimum_scalar", kGpu, kAnyDType, Gradient<MinimumGradLhs>},
    {"_backward_power_scalar", kGpu, kAnyDType, Gradient<PowerGradLhs>},
    {"_backward_rpower_scalar", kGpu, kAnyDType, GradientScalarFirst<PowerGradRhs>},
    {"_backward_hypot_scalar", kGpu, kAnyDType, Gradient<HypotGradLhs>},
};

}  // namespace
}  // namespace cooper
