// GPU kernels of L2Normalization, LRN and their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

SetPlan PlanFor(const L2NormalizationParam& param, const Shape& shape) {
  const int rank = shape.rank();
  switch (param.mode) {
    case L2NormalizationParam::kChannel:
      return PlanSets(shape[0], shape[1], shape.Product(2, rank));
    case L2NormalizationParam::kSpatial:
      return PlanSets(shape[0] * shape[1], shape.Product(2, rank), 1);
    case L2NormalizationParam::kInstance:
      break;
  }
  return PlanSets(shape[0], shape.Product(1, rank), 1);
}

// Outputs that are not requested are null.
template <typename T>
__global__ void L2Forward(SetPlan plan, ComputeType<T> eps, const T* data, T* out, bool add,
                          T* norms, bool add_norms) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const C norm = sqrt(eps + thread.SumOver<C>(set, [&](int64_t i, int64_t) {
      const C x = ConvertElement<C>(data[i]);
      return x * x;
    }));
    if (set < 0) return;
    if (norms != nullptr && thread.IsFirst()) StoreTo(norms + set, norm, add_norms);
    if (out == nullptr) return;
    thread.ForEach(
        set, [&](int64_t i, int64_t) { StoreTo(out + i, ConvertElement<C>(data[i]) / norm, add); });
  });
}

// Computes (g - y * sum(g * y)) / norm.
template <typename T>
__global__ void L2Backward(SetPlan plan, const T* ograd, const T* output, const T* norms, T* grad,
                           bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const C dot = thread.SumOver<C>(set, [&](int64_t i, int64_t) {
      return ConvertElement<C>(ograd[i]) * ConvertElement<C>(output[i]);
    });
    const C norm = set < 0 ? C{1} : ConvertElement<C>(norms[set]);
    thread.ForEach(set, [&](int64_t i, int64_t) {
      StoreTo(grad + i, (ConvertElement<C>(ograd[i]) - ConvertElement<C>(output[i]) * dot) / norm,
              add);
    });
  });
}

// The windows of an array (batch, channels, area): the window of channel k is [k - half, k + half],
// clipped to the channels.
struct LrnWindows {
  int64_t channels, area, half;

  // Calls fn(element at i's position) for each channel of the window around element i.
  template <typename Fn>
  __device__ void ForEach(int64_t i, Fn&& fn) const {
    const int64_t k = i / area % channels;
    const int64_t first = k > half ? k - half : 0;
    const int64_t last = k + half < channels ? k + half : channels - 1;
    for (int64_t at = first; at <= last; ++at) fn(i + (at - k) * area);
  }
};

template <typename C>
__device__ C NormPower(C norm, C beta) {
  return beta == C{0.75} ? C{1} / (sqrt(norm) * sqrt(sqrt(norm))) : pow(norm, -beta);
}

// alpha is the parameter divided by nsize. Outputs that are not requested are null.
template <typename T>
__global__ void LrnForward(int64_t n, LrnWindows windows, ComputeType<T> alpha, ComputeType<T> beta,
                           ComputeType<T> knorm, const T* data, T* out, bool add, T* norms,
                           bool add_norms) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C norm = 0;
    windows.ForEach(i, [&](int64_t j) {
      const C x = ConvertElement<C>(data[j]);
      norm += x * x;
    });
    norm = knorm + alpha * norm;
    if (norms != nullptr) StoreTo(norms + i, norm, add_norms);
    if (out != nullptr) StoreTo(out + i, ConvertElement<C>(data[i]) * NormPower(norm, beta), add);
  }
}

// Computes g * norm^-beta - 2 beta alpha * x * sum over the window of g * x * norm^(-beta - 1).
template <typename T>
__global__ void LrnBackward(int64_t n, LrnWindows windows, ComputeType<T> alpha,
                            ComputeType<T> beta, const T* ograd, const T* data, const T* norms,
                            T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C sum = 0;
    windows.ForEach(i, [&](int64_t j) {
      const C norm = ConvertElement<C>(norms[j]);
      sum +=
          ConvertElement<C>(ograd[j]) * ConvertElement<C>(data[j]) * NormPower(norm, beta) / norm;
    });
    const C own = ConvertElement<C>(ograd[i]) * NormPower(ConvertElement<C>(norms[i]), beta);
    StoreTo(grad + i, own - 2 * beta * alpha * sum * ConvertElement<C>(data[i]), add);
  }
}

LrnWindows WindowsOf(const LrnParam& param, const Shape& shape) {
  return {shape[1], shape[2] * shape[3], param.nsize / 2};
}

absl::Status L2Gpu(const KernelContext& c) {
  const auto& param = c.param<L2NormalizationParam>();
  return DispatchCudaFloat(c.inputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return LaunchSets(c, PlanFor(param, c.inputs[0].shape), L2Forward<T>,
                      static_cast<ComputeType<T>>(param.eps), c.inputs[0].as<T>(),
                      OutputOrNull<T>(c, 0), c.reqs[0] == WriteReq::kAdd, OutputOrNull<T>(c, 1),
                      c.reqs[1] == WriteReq::kAdd);
  });
}

absl::Status L2BackwardGpu(const KernelContext& c) {
  using enum L2NormalizationGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return LaunchSets(c, PlanFor(c.param<L2NormalizationParam>(), c.outputs[0].shape),
                      L2Backward<T>, c.inputs[kOgrad].as<T>(), c.inputs[kOutput].as<T>(),
                      c.inputs[kNorm].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status LrnGpu(const KernelContext& c) {
  const auto& param = c.param<LrnParam>();
  return DispatchCudaFloat(c.inputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const int64_t n = c.inputs[0].size();
    return LaunchElements(c, n, LrnForward<T>, n, WindowsOf(param, c.inputs[0].shape),
                          static_cast<C>(param.alpha / static_cast<double>(param.nsize)),
                          static_cast<C>(param.beta), static_cast<C>(param.knorm),
                          c.inputs[0].as<T>(), OutputOrNull<T>(c, 0), c.reqs[0] == WriteReq::kAdd,
                          OutputOrNull<T>(c, 1), c.reqs[1] == WriteReq::kAdd);
  });
}

absl::Status LrnBackwardGpu(const KernelContext& c) {
  using enum LrnGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<LrnParam>();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, LrnBackward<T>, n, WindowsOf(param, c.outputs[0].shape),
                          static_cast<C>(param.alpha / static_cast<double>(param.nsize)),
                          static_cast<C>(param.beta), c.inputs[kOgrad].as<T>(),
                          c.inputs[kData].as<T>(), c.inputs[kNorm].as<T>(), c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(L2Normalization, kGpu, kCudaFloats, L2Gpu);
COOPER_REGISTER_KERNEL(_backward_L2Normalization, kGpu, kCudaFloats, L2BackwardGpu);
COOPER_REGISTER_KERNEL(LRN, kGpu, kCudaFloats, LrnGpu);
COOPER_REGISTER_KERNEL(_backward_LRN, kGpu, kCudaFloats, LrnBackwardGpu);

}  // namespace
}  // namespace cooper
