#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_PARAMETRIC_UNARY_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_PARAMETRIC_UNARY_KERNELS_H_

// Kernels of the functions of one array with parameters, and of their gradients, templates over the
// device, which parametric_unary.cc and .cu instantiate. A parameter is an operand that is the same
// for every element. A Device is a struct with a static function template Run<F>(c, operands),
// which computes output 0 = or += f(operands...); errors are those of Run.

#include <cmath>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/elemwise/clip_bounds.h"
#include "executor/kernels/elemwise/parametric_functions.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/elemwise/unary_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

// Computes f(inputs..., a, b).
template <typename Device, typename F>
absl::Status RunWithTwo(const KernelContext& c, double a, double b) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity - 2; ++i) operands[i] = OperandOf(c.inputs[i]);
  operands[F::kArity - 2] = OperandOf(a);
  operands[F::kArity - 1] = OperandOf(b);
  return Device::template Run<F>(c, operands);
}

// Kernels of clip and its gradient. A Kernel::RunFn, as the functions below are.
template <typename Device, typename F>
absl::Status ClipKernel(const KernelContext& c) {
  const auto& param = c.param<ClipParam>();
  const auto [low, high] = ClipBoundsOf(param.a_min, param.a_max, c.outputs[0].dtype,
                                        /*strict=*/std::is_same_v<F, ClipGrad>);
  return RunWithTwo<Device, F>(c, low, high);
}

template <typename Device, typename F>
absl::Status HardSigmoidKernel(const KernelContext& c) {
  const auto& param = c.param<HardSigmoidParam>();
  return RunWithTwo<Device, F>(c, param.alpha, param.beta);
}

template <typename Device>
absl::Status SmoothL1Kernel(const KernelContext& c) {
  using enum OneInputArrays::Input;
  return Device::template Run<SmoothL1>(
      c, {OperandOf(c.inputs[kData]), OperandOf(c.param<ScalarParam>().scalar)});
}

template <typename Device>
absl::Status SmoothL1BackwardKernel(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return Device::template Run<SmoothL1Grad>(
      c, {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]),
          OperandOf(c.param<ScalarParam>().scalar)});
}

// Divides by the square root of the last axis's length.
template <typename Device>
absl::Status DivSqrtDimKernel(const KernelContext& c) {
  using enum OneInputArrays::Input;
  const Shape& shape = c.inputs[kData].shape;
  const double last = shape.rank() == 0 ? 1 : static_cast<double>(shape[shape.rank() - 1]);
  return Device::template Run<Div>(c, {OperandOf(c.inputs[kData]), OperandOf(std::sqrt(last))});
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_PARAMETRIC_UNARY_KERNELS_H_
