// GPU kernels of softmax, softmin, log_softmax, SoftmaxActivation and their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/reducers/set_values.h"
#include "executor/kernels/softmax/softmax_sets.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/softmax_param.h"

namespace cooper {
namespace {

using Form = SoftmaxForm;

SetPlan Around(const KernelContext& c, int64_t axis, int most_held) {
  const Shape& shape = c.outputs[0].shape;
  const int rank = shape.rank();
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  return PlanSets(shape.Product(0, at), shape[at], shape.Product(at + 1, rank),
                  MaxThreadsFor(c.inputs[0].dtype, c.outputs[0].dtype), most_held);
}

// Computes the gradient, with y = output and g = ograd:
//
//   softmax:      y * (g - sum(g * y)) / temperature
//   log_softmax:  (g - exp(y) * sum(g)) / temperature
//
// softmin has the opposite sign.
template <Form form, int kHeld, typename C, typename Array>
__global__ void __launch_bounds__(kThreadsHolding<C, kHeld>, kBlocksHolding<C, kHeld>)
    SoftmaxGradient(SetPlan plan, Array ograd, Array output, TypedArray lengths, C scale,
                    Array grad, bool add) {
  struct Pair {
    C g, y;
  };
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const int64_t length = SetLength(lengths, set, plan.n);
    const auto values = ValuesOf<kHeld>(thread, set, [&](int64_t i) {
      return Pair{ograd.template Load<C>(i), output.template Load<C>(i)};
    });
    const C sum = values.template Sum<C>([&](int64_t j, const Pair& p) {
      if (j >= length) return C{0};
      return form == Form::kLogSoftmax ? p.g : p.g * p.y;
    });
    values.ForEach([&](int64_t i, int64_t j, const Pair& p) {
      C d = 0;
      if (j < length) d = form == Form::kLogSoftmax ? p.g - exp(p.y) * sum : p.y * (p.g - sum);
      grad.Store(i, d * scale, add);
    });
  });
}

template <Form form>
absl::Status Forward(const KernelContext& c, const SetPlan& plan, double temperature,
                     const TypedArray& lengths) {
  return LaunchSoftmax<form>(c, plan, c.inputs[0], lengths, temperature, c.outputs[0],
                             c.reqs[0] == WriteReq::kAdd);
}

template <Form form>
absl::Status Backward(const KernelContext& c, const SetPlan& plan, double temperature,
                      const TypedArray& lengths) {
  using enum SoftmaxGradientArrays::Input;
  const double scale = (form == Form::kSoftmin ? -1 : 1) / temperature;
  const ArrayView &ograd = c.inputs[kOgrad], &output = c.inputs[kOutput], &grad = c.outputs[0];
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if (ograd.dtype == DType::kFloat64 || grad.dtype == DType::kFloat64) {
    return LaunchSets(c, plan, SoftmaxGradient<form, 0, double, TypedArray>, Typed(ograd),
                      Typed(output), lengths, scale, Typed(grad), add);
  }
  return DispatchHeld<float, kManyHeld>(plan, [&](auto held) {
    constexpr int kHeld = decltype(held)::value;
    const auto s = static_cast<float>(scale);
    if (ograd.dtype == DType::kFloat32 && output.dtype == DType::kFloat32 &&
        grad.dtype == DType::kFloat32) {
      return LaunchSets(c, plan, SoftmaxGradient<form, kHeld, float, FloatArray>,
                        FloatArray{ograd.as<float>()}, FloatArray{output.as<float>()}, lengths, s,
                        FloatArray{grad.as<float>()}, add);
    }
    return LaunchSets(c, plan, SoftmaxGradient<form, kHeld, float, TypedArray>, Typed(ograd),
                      Typed(output), lengths, s, Typed(grad), add);
  });
}

constexpr TypedArray kNoLengths = {nullptr, DType::kInt32};

template <Form form>
absl::Status SoftmaxGpu(const KernelContext& c) {
  using enum SoftmaxArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  return Forward<form>(c, Around(c, param.axis, kMaxHeld), param.temperature.value_or(1.0),
                       param.has_length() ? Typed(c.inputs[kLength]) : kNoLengths);
}

template <Form form>
absl::Status SoftmaxBackwardGpu(const KernelContext& c) {
  using enum SoftmaxGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  return Backward<form>(c, Around(c, param.axis, kManyHeld), param.temperature.value_or(1.0),
                        param.has_length() ? Typed(c.inputs[kLength]) : kNoLengths);
}

absl::Status SoftmaxActivationGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const bool channel = c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel;
  return Forward<Form::kSoftmax>(c, Around(c, channel ? 1 : -1, kMaxHeld), 1.0, kNoLengths);
}

// The gradient is along axis 1 in both modes, as in MXNet 1.9.1 and in the CPU kernel.
absl::Status SoftmaxActivationBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return Backward<Form::kSoftmax>(c, Around(c, c.outputs[0].shape.rank() < 2 ? -1 : 1, kManyHeld),
                                  1.0, kNoLengths);
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(softmax, kGpu, kCudaFloats, SoftmaxGpu<Form::kSoftmax>);
COOPER_REGISTER_KERNEL(softmin, kGpu, kCudaFloats, SoftmaxGpu<Form::kSoftmin>);
COOPER_REGISTER_KERNEL(log_softmax, kGpu, kCudaFloats, SoftmaxGpu<Form::kLogSoftmax>);
COOPER_REGISTER_KERNEL(_backward_softmax, kGpu, kCudaFloats, SoftmaxBackwardGpu<Form::kSoftmax>);
COOPER_REGISTER_KERNEL(_backward_softmin, kGpu, kCudaFloats, SoftmaxBackwardGpu<Form::kSoftmin>);
COOPER_REGISTER_KERNEL(_backward_log_softmax, kGpu, kCudaFloats,
                       SoftmaxBackwardGpu<Form::kLogSoftmax>);
COOPER_REGISTER_KERNEL(SoftmaxActivation, kGpu, kCudaFloats, SoftmaxActivationGpu);
COOPER_REGISTER_KERNEL(_backward_SoftmaxActivation, kGpu, kCudaFloats,
                       SoftmaxActivationBackwardGpu);

}  // namespace
}  // namespace cooper
