// GPU kernels of _contrib_quadratic and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/quadratic_param.h"

namespace cooper {
namespace {

// Computes out = x * (a * x + b) + constant or, if `ograd` is not null, its gradient. `out` may be
// an input's memory.
template <typename T>
__global__ void Quadratic(int64_t n, ComputeType<T> a, ComputeType<T> b, ComputeType<T> constant,
                          const T* ograd, const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const C x = ConvertElement<C>(data[i]);
    const C value = ograd == nullptr ? x * (a * x + b) + constant
                                     : ConvertElement<C>(ograd[i]) * (2 * a * x + b);
    StoreTo(out + i, value, add);
  }
}

absl::Status Run(const KernelContext& c, const void* ograd, const void* data) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto& p = c.param<QuadraticParam>();
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, Quadratic<T>, n, p.a, p.b, p.c, static_cast<const T*>(ograd),
                          static_cast<const T*>(data), c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status QuadraticGpu(const KernelContext& c) {
  return Run(c, nullptr, c.inputs[QuadraticArrays::kData].data);
}

absl::Status QuadraticBackwardGpu(const KernelContext& c) {
  using enum QuadraticGradientArrays::Input;
  return Run(c, c.inputs[kOgrad].data, c.inputs[kData].data);
}

COOPER_REGISTER_KERNEL(_contrib_quadratic, DeviceType::kGpu, kCudaFloats, QuadraticGpu);
COOPER_REGISTER_KERNEL(_backward_contrib_quadratic, DeviceType::kGpu, kCudaFloats,
                       QuadraticBackwardGpu);

}  // namespace
}  // namespace cooper
