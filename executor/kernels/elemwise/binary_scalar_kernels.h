#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_BINARY_SCALAR_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_BINARY_SCALAR_KERNELS_H_

// Kernels of operators on an array and a scalar, which are operators on two arrays with a scalar as
// one operand; templates over the device, for binary_scalar.cc and .cu. A Device is a struct with a
// static function template Run<F>(c, operands), which computes output 0 = or += f(operands...);
// errors are those of Run.

#include "absl/status/status.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

template <typename Device>
struct BinaryScalarKernels {
  // Computes f(data, scalar).
  template <typename F>
  static absl::Status Scalar(const KernelContext& c) {
    using enum OneInputArrays::Input;
    return Device::template Run<F>(c, {OperandOf(c.inputs[kData]), ScalarOf(c)});
  }

  // Computes f(scalar, data).
  template <typename F>
  static absl::Status ScalarFirst(const KernelContext& c) {
    using enum OneInputArrays::Input;
    return Device::template Run<F>(c, {ScalarOf(c), OperandOf(c.inputs[kData])});
  }

  // Computes f(ograd, data, scalar).
  template <typename F>
  static absl::Status Gradient(const KernelContext& c) {
    using enum ScalarGradientArrays::Input;
    return Device::template Run<F>(
        c, {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]), ScalarOf(c)});
  }

  // Computes f(ograd, scalar, data).
  template <typename F>
  static absl::Status GradientScalarFirst(const KernelContext& c) {
    using enum ScalarGradientArrays::Input;
    return Device::template Run<F>(
        c, {OperandOf(c.inputs[kOgrad]), ScalarOf(c), OperandOf(c.inputs[kData])});
  }

  static ElemwiseOperand ScalarOf(const KernelContext& c) {
    return OperandOf(c.param<ScalarParam>().scalar);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_plus_scalar", device, kAnyDType, Scalar<Add>},
        {"_scatter_plus_scalar", device, kAnyDType, Scalar<Add>},
        {"_minus_scalar", device, kAnyDType, Scalar<Sub>},
        {"_scatter_minus_scalar", device, kAnyDType, Scalar<Sub>},
        {"_rminus_scalar", device, kAnyDType, ScalarFirst<Sub>},
        {"_mul_scalar", device, kAnyDType, Scalar<Mul>},
        {"_div_scalar", device, kAnyDType, Scalar<Div>},
        {"_rdiv_scalar", device, kAnyDType, ScalarFirst<Div>},
        {"_mod_scalar", device, kAnyDType, Scalar<Mod>},
        {"_rmod_scalar", device, kAnyDType, ScalarFirst<Mod>},
        {"_maximum_scalar", device, kAnyDType, Scalar<Maximum>},
        {"_minimum_scalar", device, kAnyDType, Scalar<Minimum>},
        {"_power_scalar", device, kAnyDType, Scalar<Power>},
        {"_rpower_scalar", device, kAnyDType, ScalarFirst<Power>},
        {"_hypot_scalar", device, kAnyDType, Scalar<Hypot>},
        {"_equal_scalar", device, kAnyDType, Scalar<Equal>},
        {"_not_equal_scalar", device, kAnyDType, Scalar<NotEqual>},
        {"_greater_scalar", device, kAnyDType, Scalar<Greater>},
        {"_greater_equal_scalar", device, kAnyDType, Scalar<GreaterEqual>},
        {"_lesser_scalar", device, kAnyDType, Scalar<Lesser>},
        {"_lesser_equal_scalar", device, kAnyDType, Scalar<LesserEqual>},
        {"_logical_and_scalar", device, kAnyDType, Scalar<LogicalAnd>},
        {"_logical_or_scalar", device, kAnyDType, Scalar<LogicalOr>},
        {"_logical_xor_scalar", device, kAnyDType, Scalar<LogicalXor>},
        {"_backward_rdiv_scalar", device, kAnyDType, GradientScalarFirst<DivGradRhs>},
        {"_backward_rmod_scalar", device, kAnyDType, GradientScalarFirst<ModGradRhs>},
        {"_backward_maximum_scalar", device, kAnyDType, Gradient<MaximumGradLhs>},
        {"_backward_minimum_scalar", device, kAnyDType, Gradient<MinimumGradLhs>},
        {"_backward_power_scalar", device, kAnyDType, Gradient<PowerGradLhs>},
        {"_backward_rpower_scalar", device, kAnyDType, GradientScalarFirst<PowerGradRhs>},
        {"_backward_hypot_scalar", device, kAnyDType, Gradient<HypotGradLhs>},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_BINARY_SCALAR_KERNELS_H_
