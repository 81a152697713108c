// GPU kernels of SVMOutput and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Copy(int64_t n, const T* in, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + i, ConvertElement<C>(in[i]), add);
  }
}

// Computes the gradient of the scores. With t = 1 for the label's class and -1 for others, the loss
// of a score y is max(0, margin - t y), or its square.
template <typename T>
__global__ void Backward(int64_t n, int64_t classes, const T* label, const T* output,
                         ComputeType<T> margin, ComputeType<T> factor, bool use_linear, T* grad,
                         bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const bool own = i % classes == ConvertElement<int64_t>(label[i / classes]);
    const C t = own ? C{1} : C{-1};
    const C miss = margin - t * ConvertElement<C>(output[i]);
    const C slope = miss > 0 ? (use_linear ? C{1} : 2 * miss) : C{0};
    StoreTo(grad + i, -t * slope * factor, add);
  }
}

absl::Status SvmOutputGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchDType(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, Copy<T>, n, c.inputs[0].as<T>(), c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status SvmOutputBackwardGpu(const KernelContext& c) {
  using enum LossGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SvmOutputParam>();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const Shape& shape = c.outputs[0].shape;
    const int64_t classes = shape[shape.rank() - 1];
    const int64_t n = c.inputs[kLabel].size() * classes;
    return LaunchElements(c, n, Backward<T>, n, classes, c.inputs[kLabel].as<T>(),
                          c.inputs[kOutput].as<T>(), static_cast<C>(param.margin),
                          static_cast<C>(param.regularization_coefficient), param.use_linear,
                          c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(SVMOutput, DeviceType::kGpu, kAnyDType, SvmOutputGpu);
COOPER_REGISTER_KERNEL(_backward_SVMOutput, DeviceType::kGpu, kCudaFloats, SvmOutputBackwardGpu);

}  // namespace
}  // namespace cooper
