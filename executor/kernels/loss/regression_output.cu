// GPU kernels of the regression outputs and their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

enum class Loss { kLinear, kLogistic, kAbsolute };

template <Loss loss, typename T>
__global__ void Forward(int64_t n, const T* in, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C y = ConvertElement<C>(in[i]);
    if (loss == Loss::kLogistic) y = C{1} / (C{1} + exp(-y));
    StoreTo(out + i, y, add);
  }
}

template <Loss loss, typename T>
__global__ void Backward(int64_t n, const T* label, const T* output, ComputeType<T> scale, T* grad,
                         bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C d = ConvertElement<C>(output[i]) - ConvertElement<C>(label[i]);
    if (loss == Loss::kAbsolute) d = d > 0 ? C{1} : C{-1};  // as MXNet: -1 for 0 too
    StoreTo(grad + i, d * scale, add);
  }
}

template <Loss loss>
absl::Status ForwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, Forward<loss, T>, n, c.inputs[0].as<T>(), c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

// Computes the gradient. As MXNet, it divides by the number of outputs of a sample, not by the
// batch size.
template <Loss loss>
absl::Status BackwardGpu(const KernelContext& c) {
  using enum LossGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const Shape& label_shape = c.inputs[kLabel].shape;
  const double outputs = static_cast<double>(label_shape.Product(1, label_shape.rank()));
  const double scale = c.param<RegressionOutputParam>().grad_scale / outputs;
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, Backward<loss, T>, n, c.inputs[kLabel].as<T>(),
                          c.inputs[kOutput].as<T>(), static_cast<ComputeType<T>>(scale),
                          c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(LinearRegressionOutput, kGpu, kCudaFloats, ForwardGpu<Loss::kLinear>);
COOPER_REGISTER_KERNEL(LogisticRegressionOutput, kGpu, kCudaFloats, ForwardGpu<Loss::kLogistic>);
COOPER_REGISTER_KERNEL(MAERegressionOutput, kGpu, kCudaFloats, ForwardGpu<Loss::kAbsolute>);
COOPER_REGISTER_KERNEL(_backward_LinearRegressionOutput, kGpu, kCudaFloats,
                       BackwardGpu<Loss::kLinear>);
COOPER_REGISTER_KERNEL(_backward_LogisticRegressionOutput, kGpu, kCudaFloats,
                       BackwardGpu<Loss::kLogistic>);
COOPER_REGISTER_KERNEL(_backward_MAERegressionOutput, kGpu, kCudaFloats,
                       BackwardGpu<Loss::kAbsolute>);

}  // namespace
}  // namespace cooper
