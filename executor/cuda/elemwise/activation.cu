// GPU kernels of Activation and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/launch.h"
#include "executor/kernel.h"
#include "symbol/ops/elemwise/activation_param.h"

namespace cooper {
namespace {

// The functions, and of (g, value) their gradients, where value is the output y or, for softsign,
// the input x; the CPU's are in executor/elements/activation_functions.h.
struct Relu {
  __device__ float operator()(float x) const { return x < 0 ? 0 : x; }
  __device__ float operator()(float g, float y) const { return y > 0 ? g : (y != y ? y : 0); }
};
struct Sigmoid {
  __device__ float operator()(float x) const { return 1 / (1 + expf(-x)); }
  __device__ float operator()(float g, float y) const { return g * (y * (1 - y)); }
};
struct Tanh {
  __device__ float operator()(float x) const { return tanhf(x); }
  __device__ float operator()(float g, float y) const { return g * (1 - y * y); }
};
struct SoftRelu {
  // Beyond 20 log(1 + exp(x)) is x, and exp would overflow.
  __device__ float operator()(float x) const { return x > 20 ? x : log1pf(expf(x)); }
  __device__ float operator()(float g, float y) const { return -g * expm1f(-y); }
};
struct SoftSign {
  __device__ float operator()(float x) const { return x / (1 + fabsf(x)); }
  __device__ float operator()(float g, float x) const {
    return g / ((1 + fabsf(x)) * (1 + fabsf(x)));
  }
};

// `out` may be one of the inputs: an element is read before it is written.
template <typename Fn>
__global__ void Forward(int64_t n, const float* x, float* out, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const float y = Fn()(x[i]);
    out[i] = add ? out[i] + y : y;
  }
}

template <typename Fn>
__global__ void Backward(int64_t n, const float* ograd, const float* value, float* out, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const float g = Fn()(ograd[i], value[i]);
    out[i] = add ? out[i] + g : g;
  }
}

template <typename Fn>
absl::Status RunForward(const KernelContext& c) {
  const int64_t n = c.outputs[0].size();
  return LaunchElements(c, n, Forward<Fn>, n, c.inputs[0].as<float>(), c.outputs[0].as<float>(),
                        c.reqs[0] == WriteReq::kAdd);
}

template <typename Fn>
absl::Status RunBackward(const KernelContext& c) {
  const int64_t n = c.outputs[0].size();
  return LaunchElements(c, n, Backward<Fn>, n, c.inputs[0].as<float>(), c.inputs[1].as<float>(),
                        c.outputs[0].as<float>(), c.reqs[0] == WriteReq::kAdd);
}

absl::Status ActivationGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  switch (c.param<ActivationParam>().act_type) {
    case ActivationType::kRelu:
      return RunForward<Relu>(c);
    case ActivationType::kSigmoid:
      return RunForward<Sigmoid>(c);
    case ActivationType::kTanh:
      return RunForward<Tanh>(c);
    case ActivationType::kSoftRelu:
      return RunForward<SoftRelu>(c);
    case ActivationType::kSoftSign:
      return RunForward<SoftSign>(c);
  }
  return absl::InternalError("Activation: unknown act_type");
}

absl::Status ActivationBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  switch (c.param<ActivationParam>().act_type) {
    case ActivationType::kRelu:
      return RunBackward<Relu>(c);
    case ActivationType::kSigmoid:
      return RunBackward<Sigmoid>(c);
    case ActivationType::kTanh:
      return RunBackward<Tanh>(c);
    case ActivationType::kSoftRelu:
      return RunBackward<SoftRelu>(c);
    case ActivationType::kSoftSign:
      return RunBackward<SoftSign>(c);
  }
  return absl::InternalError("_backward_Activation: unknown act_type");
}

COOPER_REGISTER_KERNEL(Activation, DeviceType::kGpu, kFloat32Only, ActivationGpu);
COOPER_REGISTER_KERNEL(_backward_Activation, DeviceType::kGpu, kFloat32Only, ActivationBackwardGpu);

}  // namespace
}  // namespace cooper
