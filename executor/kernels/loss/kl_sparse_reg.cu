// GPU kernels of IdentityAttachKLSparseReg and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/kl_sparse_reg_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Copy(int64_t n, const T* in, T* out, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + i, ConvertElement<ComputeType<T>>(in[i]), add);
  }
}

// Computes ograd + penalty * ((1 - target) / (1 - average) - target / average). The sets are the
// units. `grad` may be null.
template <typename T>
__global__ void Backward(SetPlan plan, const T* ograd, const T* data, ComputeType<T> momentum,
                         ComputeType<T> target, ComputeType<T> penalty, T* moving_avg, T* grad,
                         bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    // All lanes read it before the reduction's barrier; one writes it after the barrier.
    const C old = k < 0 ? C{0} : ConvertElement<C>(moving_avg[k]);
    const C sum =
        thread.SumOver<C>(k, [&](int64_t i, int64_t) { return ConvertElement<C>(data[i]); });
    const C average = momentum * old + (C{1} - momentum) * sum / static_cast<C>(plan.size());
    if (k >= 0 && thread.IsFirst()) StoreTo(moving_avg + k, average, false);
    if (grad == nullptr) return;
    const C added = penalty * ((C{1} - target) / (C{1} - average) - target / average);
    thread.ForEach(k, [&](int64_t i, int64_t) {
      StoreTo(grad + i, ConvertElement<C>(ograd[i]) + added, add);
    });
  });
}

absl::Status ForwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, Copy<T>, n, c.inputs[0].as<T>(), c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status BackwardGpu(const KernelContext& c) {
  using enum KLSparseRegGradientArrays::Input;
  const auto& param = c.param<KlSparseRegParam>();
  const Shape& shape = c.inputs[kData].shape;
  if (shape[0] == 0) return absl::OkStatus();  // no rows, no average
  return DispatchCudaFloat(c.inputs[kOgrad].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    return LaunchSets(c, PlanChannels(shape[0], shape[1], 1), Backward<T>, c.inputs[kOgrad].as<T>(),
                      c.inputs[kData].as<T>(), static_cast<C>(param.momentum),
                      static_cast<C>(param.sparseness_target), static_cast<C>(param.penalty),
                      c.inputs[kMovingAvg].as<T>(),
                      c.reqs[0] == WriteReq::kNull ? nullptr : c.outputs[0].as<T>(),
                      c.reqs[0] == WriteReq::kAdd);
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(IdentityAttachKLSparseReg, kGpu, kCudaFloats, ForwardGpu);
COOPER_REGISTER_KERNEL(_backward_IdentityAttachKLSparseReg, kGpu, kCudaFloats, BackwardGpu);

}  // namespace
}  // namespace cooper
