// Kernels of MakeLoss and its gradient.

#include <algorithm>

#include "absl/status/status.h"
#include "executor/cpu/loss/copy_data.h"
#include "executor/cpu/nn/dispatch_float.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

template <typename T>
void Backward(const KernelContext& c) {
  using C = ComputeType<T>;
  const auto& param = c.param<MakeLossParam>();
  const ArrayView& grad = c.outputs[0];
  double divisor = 1;
  if (param.normalization == Normalization::kBatch) {
    divisor = grad.shape.rank() == 0 ? 1 : static_cast<double>(grad.shape[0]);
  } else if (param.normalization == Normalization::kValid) {
    const T* data = c.inputs[0].as<T>();
    const C threshold = static_cast<C>(param.valid_thresh);
    int64_t valid = 0;
    for (int64_t i = 0; i < grad.size(); ++i) valid += Load(data[i]) > threshold;
    divisor = static_cast<double>(std::max<int64_t>(valid, 1));
  }
  const C value = static_cast<C>(param.grad_scale / divisor);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  T* to = grad.as<T>();
  ParallelFor(grad.size(), 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Store(to + i, value, add);
  });
}

absl::Status MakeLossBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat("_backward_MakeLoss", c.outputs[0].dtype,
                       [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(MakeLoss, DeviceType::kCpu, CopyData);
COOPER_REGISTER_KERNEL(_backward_MakeLoss, DeviceType::kCpu, MakeLossBackwardCpu);

}  // namespace
}  // namespace cooper
