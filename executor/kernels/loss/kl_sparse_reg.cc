// Kernels of IdentityAttachKLSparseReg and its gradient.

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/kl_sparse_reg_param.h"

namespace cooper {
namespace {

template <typename T>
void Forward(const KernelContext& c) {
  using enum KLSparseRegArrays::Input;
  const T* in = c.inputs[kData].as<T>();
  T* out = c.outputs[0].as<T>();
  for (int64_t i = 0; i < c.inputs[kData].size(); ++i) {
    Store(out + i, Load(in[i]), c.reqs[0] == WriteReq::kAdd);
  }
}

// Computes ograd + penalty * ((1 - target) / (1 - average) - target / average).
template <typename T>
void Backward(const KernelContext& c) {
  using enum KLSparseRegGradientArrays::Input;
  using C = ComputeType<T>;
  const auto& param = c.param<KlSparseRegParam>();
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  T* moving_avg = c.inputs[kMovingAvg].as<T>();
  const int64_t rows = c.inputs[kData].shape[0];
  const int64_t units = c.inputs[kData].shape[1];
  const C momentum = static_cast<C>(param.momentum);
  const C target = static_cast<C>(param.sparseness_target);
  const C penalty = static_cast<C>(param.penalty);
  if (rows == 0) return;  // no rows, no average
  for (int64_t k = 0; k < units; ++k) {
    C sum = 0;
    for (int64_t i = 0; i < rows; ++i) sum += Load(data[i * units + k]);
    const C average =
        momentum * Load(moving_avg[k]) + (C{1} - momentum) * sum / static_cast<C>(rows);
    Store(moving_avg + k, average, false);
    if (c.reqs[0] == WriteReq::kNull) continue;
    const C added = penalty * ((C{1} - target) / (C{1} - average) - target / average);
    T* grad = c.outputs[0].as<T>();
    for (int64_t i = 0; i < rows; ++i) {
      Store(grad + i * units + k, Load(ograd[i * units + k]) + added, c.reqs[0] == WriteReq::kAdd);
    }
  }
}

absl::Status ForwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status BackwardCpu(const KernelContext& c) {
  using enum KLSparseRegGradientArrays::Input;
  return DispatchFloat(c.inputs[kOgrad].dtype,
                       [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(IdentityAttachKLSparseReg, DeviceType::kCpu, kFloats, ForwardCpu);
COOPER_REGISTER_KERNEL(_backward_IdentityAttachKLSparseReg, DeviceType::kCpu, kFloats, BackwardCpu);

}  // namespace
}  // namespace cooper
