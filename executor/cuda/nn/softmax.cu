// GPU kernels of softmax, softmin, log_softmax, SoftmaxActivation and their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/nn/softmax_sets.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/kernel.h"
#include "symbol/ops/nn/softmax_param.h"

namespace cooper {
namespace {

using Form = SoftmaxForm;

SetPlan Around(const Shape& shape, int64_t axis) {
  const int rank = shape.rank();
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  return PlanSets(shape.Product(0, at), shape[at], shape.Product(at + 1, rank));
}

// Calls fn(C{0}) with the type to compute in.
template <typename Fn>
absl::Status DispatchWider(DType a, DType b, Fn&& fn) {
  if (a == DType::kFloat64 || b == DType::kFloat64) return fn(0.0);
  return fn(0.0F);
}

// With y = output and g = ograd: softmax y * (g - sum(g * y)), log_softmax g - exp(y) * sum(g),
// over the temperature, with the other sign for softmin.
template <Form form, typename C>
__global__ void SoftmaxGradient(SetPlan plan, TypedArray ograd, TypedArray output,
                                TypedArray lengths, C scale, TypedArray grad, bool add) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const int64_t length = SetLength(lengths, set, plan.n);
    const C sum = thread.SumOver<C>(set, [&](int64_t i, int64_t j) {
      if (j >= length) return C{0};
      const C g = ograd.Load<C>(i);
      return form == Form::kLogSoftmax ? g : g * output.Load<C>(i);
    });
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      C d = 0;
      if (j < length) {
        const C g = ograd.Load<C>(i);
        const C y = output.Load<C>(i);
        d = form == Form::kLogSoftmax ? g - exp(y) * sum : y * (g - sum);
      }
      grad.Store(i, d * scale, add);
    });
  });
}

template <Form form>
absl::Status Forward(const KernelContext& c, const SetPlan& plan, double temperature,
                     TypedArray lengths) {
  return DispatchWider(c.inputs[0].dtype, c.outputs[0].dtype, [&](auto zero) {
    using C = decltype(zero);
    return LaunchSets(c, plan, SoftmaxSets<form, C>, Typed(c.inputs[0]), lengths,
                      static_cast<C>(temperature), Typed(c.outputs[0]),
                      c.reqs[0] == WriteReq::kAdd);
  });
}

template <Form form>
absl::Status Backward(const KernelContext& c, const SetPlan& plan, double temperature,
                      TypedArray lengths) {
  using enum SoftmaxGradientArrays::Input;
  const double scale = (form == Form::kSoftmin ? -1 : 1) / temperature;
  return DispatchWider(c.inputs[kOgrad].dtype, c.outputs[0].dtype, [&](auto zero) {
    using C = decltype(zero);
    return LaunchSets(c, plan, SoftmaxGradient<form, C>, Typed(c.inputs[kOgrad]),
                      Typed(c.inputs[kOutput]), lengths, static_cast<C>(scale), Typed(c.outputs[0]),
                      c.reqs[0] == WriteReq::kAdd);
  });
}

constexpr TypedArray kNoLengths = {nullptr, DType::kInt32};

template <Form form>
absl::Status SoftmaxGpu(const KernelContext& c) {
  using enum SoftmaxArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  return Forward<form>(c, Around(c.inputs[kData].shape, param.axis),
                       param.temperature.value_or(1.0),
                       param.has_length() ? Typed(c.inputs[kLength]) : kNoLengths);
}

template <Form form>
absl::Status SoftmaxBackwardGpu(const KernelContext& c) {
  using enum SoftmaxGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  return Backward<form>(c, Around(c.outputs[0].shape, param.axis), param.temperature.value_or(1.0),
                        param.has_length() ? Typed(c.inputs[kLength]) : kNoLengths);
}

absl::Status SoftmaxActivationGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const bool channel = c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel;
  return Forward<Form::kSoftmax>(c, Around(c.inputs[0].shape, channel ? 1 : -1), 1.0, kNoLengths);
}

// Axis 1 in either mode, as MXNet 1.9.1 and the CPU's kernel have it.
absl::Status SoftmaxActivationBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const Shape& shape = c.outputs[0].shape;
  return Backward<Form::kSoftmax>(c, Around(shape, shape.rank() < 2 ? -1 : 1), 1.0, kNoLengths);
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
