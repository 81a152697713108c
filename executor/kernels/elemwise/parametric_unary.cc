// Kernels of the functions of one array with parameters, and of their gradients. A parameter is an
// operand that is the same for every element.

#include <cmath>
#include <type_traits>

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/elemwise/clip_bounds.h"
#include "executor/kernels/elemwise/parametric_functions.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/elemwise/unary_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

// Computes f(inputs..., a, b).
template <typename F>
absl::Status RunWith(const KernelContext& c, double a, double b) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity - 2; ++i) operands[i] = OperandOf(c.inputs[i]);
  operands[F::kArity - 2] = OperandOf(a);
  operands[F::kArity - 1] = OperandOf(b);
  return RunElemwise(kElemwiseLoops<F>, operands, c.outputs[0], c.reqs[0]);
}

template <typename F>
absl::Status ClipCpu(const KernelContext& c) {
  const auto& param = c.param<ClipParam>();
  const auto [low, high] = ClipBoundsOf(param.a_min, param.a_max, c.outputs[0].dtype,
                                        /*strict=*/std::is_same_v<F, ClipGrad>);
  return RunWith<F>(c, low, high);
}

template <typename F>
absl::Status HardSigmoidCpu(const KernelContext& c) {
  const auto& param = c.param<HardSigmoidParam>();
  return RunWith<F>(c, param.alpha, param.beta);
}

absl::Status SmoothL1Cpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  return RunElemwise(kElemwiseLoops<SmoothL1>,
                     {OperandOf(c.inputs[kData]), OperandOf(c.param<ScalarParam>().scalar)},
                     c.outputs[0], c.reqs[0]);
}

absl::Status SmoothL1BackwardCpu(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return RunElemwise(kElemwiseLoops<SmoothL1Grad>,
                     {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]),
                      OperandOf(c.param<ScalarParam>().scalar)},
                     c.outputs[0], c.reqs[0]);
}

absl::Status DivSqrtDimCpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  const Shape& shape = c.inputs[kData].shape;
  const double last = shape.rank() == 0 ? 1 : static_cast<double>(shape[shape.rank() - 1]);
  return RunElemwise(kElemwiseLoops<Div>, {OperandOf(c.inputs[kData]), OperandOf(std::sqrt(last))},
                     c.outputs[0], c.reqs[0]);
}

COOPER_REGISTER_KERNEL(_contrib_div_sqrt_dim, DeviceType::kCpu, kAnyDType, DivSqrtDimCpu);
COOPER_REGISTER_KERNEL(clip, DeviceType::kCpu, kAnyDType, ClipCpu<Clip>);
COOPER_REGISTER_KERNEL(_backward_clip, DeviceType::kCpu, kAnyDType, ClipCpu<ClipGrad>);
COOPER_REGISTER_KERNEL(hard_sigmoid, DeviceType::kCpu, kAnyDType, HardSigmoidCpu<HardSigmoid>);
COOPER_REGISTER_KERNEL(_backward_hard_sigmoid, DeviceType::kCpu, kAnyDType,
                       HardSigmoidCpu<HardSigmoidGrad>);
COOPER_REGISTER_KERNEL(smooth_l1, DeviceType::kCpu, kAnyDType, SmoothL1Cpu);
COOPER_REGISTER_KERNEL(_backward_smooth_l1, DeviceType::kCpu, kAnyDType, SmoothL1BackwardCpu);

}  // namespace
}  // namespace cooper
