// GPU kernels of the functions of one array with parameters, and of their gradients. A parameter is
// an operand that is the same for every element.

#include <cmath>
#include <type_traits>

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/elemwise/clip_bounds.h"
#include "executor/kernels/elemwise/parametric_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/elemwise/unary_param.h"

namespace cooper {
namespace {

// Computes f(inputs..., a, b).
template <typename F>
absl::Status RunWith(const KernelContext& c, double a, double b) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity - 2; ++i) operands[i] = OperandOf(c.inputs[i]);
  operands[F::kArity - 2] = OperandOf(a);
  operands[F::kArity - 1] = OperandOf(b);
  return RunElementMap(c, ElementMapOf<F>(), operands, c.outputs[0], c.reqs[0]);
}

template <typename F>
absl::Status ClipGpu(const KernelContext& c) {
  const auto& param = c.param<ClipParam>();
  const auto [low, high] = ClipBoundsOf(param.a_min, param.a_max, c.outputs[0].dtype,
                                        /*strict=*/std::is_same_v<F, ClipGrad>);
  return RunWith<F>(c, low, high);
}

template <typename F>
absl::Status HardSigmoidGpu(const KernelContext& c) {
  const auto& param = c.param<HardSigmoidParam>();
  return RunWith<F>(c, param.alpha, param.beta);
}

absl::Status SmoothL1Gpu(const KernelContext& c) {
  return RunElementMap(c, ElementMapOf<SmoothL1>(),
                       {OperandOf(c.inputs[0]), OperandOf(c.param<ScalarParam>().scalar)},
                       c.outputs[0], c.reqs[0]);
}

absl::Status SmoothL1BackwardGpu(const KernelContext& c) {
  using enum ScalarGradientArrays::Input;
  return RunElementMap(c, ElementMapOf<SmoothL1Grad>(),
                       {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]),
                        OperandOf(c.param<ScalarParam>().scalar)},
                       c.outputs[0], c.reqs[0]);
}

absl::Status DivSqrtDimGpu(const KernelContext& c) {
  const Shape& shape = c.inputs[0].shape;
  const double last = shape.rank() == 0 ? 1 : static_cast<double>(shape[shape.rank() - 1]);
  return RunElementMap(c, ElementMapOf<Div>(), {OperandOf(c.inputs[0]), OperandOf(std::sqrt(last))},
                       c.outputs[0], c.reqs[0]);
}

COOPER_REGISTER_KERNEL(_contrib_div_sqrt_dim, DeviceType::kGpu, kAnyDType, DivSqrtDimGpu);
COOPER_REGISTER_KERNEL(clip, DeviceType::kGpu, kAnyDType, ClipGpu<Clip>);
COOPER_REGISTER_KERNEL(_backward_clip, DeviceType::kGpu, kAnyDType, ClipGpu<ClipGrad>);
COOPER_REGISTER_KERNEL(hard_sigmoid, DeviceType::kGpu, kAnyDType, HardSigmoidGpu<HardSigmoid>);
COOPER_REGISTER_KERNEL(_backward_hard_sigmoid, DeviceType::kGpu, kAnyDType,
                       HardSigmoidGpu<HardSigmoidGrad>);
COOPER_REGISTER_KERNEL(smooth_l1, DeviceType::kGpu, kAnyDType, SmoothL1Gpu);
COOPER_REGISTER_KERNEL(_backward_smooth_l1, DeviceType::kGpu, kAnyDType, SmoothL1BackwardGpu);

}  // namespace
}  // namespace cooper
