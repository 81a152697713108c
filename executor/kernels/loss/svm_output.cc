// Kernels of SVMOutput and its gradient.

#include <algorithm>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/copy_data.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

// Computes the gradient of the scores. With t = 1 for the label's class and -1 for others, the loss
// of a score y is max(0, margin - t y), or its square.
template <typename T>
void Backward(const KernelContext& c) {
  using enum LossGradientArrays::Input;
  using C = ComputeType<T>;
  const auto& param = c.param<SvmOutputParam>();
  const C margin = static_cast<C>(param.margin);
  const C factor = static_cast<C>(param.regularization_coefficient);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const T* label = c.inputs[kLabel].as<T>();
  const T* out = c.inputs[kOutput].as<T>();
  T* grad = c.outputs[0].as<T>();
  const int64_t classes = c.outputs[0].shape[c.outputs[0].shape.rank() - 1];
  ParallelFor(c.inputs[kLabel].size(), RowGrain(classes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto own = IntegerOf<int64_t>(Load(label[i]));
      for (int64_t j = 0; j < classes; ++j) {
        const C t = j == own ? C{1} : C{-1};
        const C miss = margin - t * Load(out[i * classes + j]);
        const C slope = miss > 0 ? (param.use_linear ? C{1} : 2 * miss) : C{0};
        Store(grad + i * classes + j, -t * slope * factor, add);
      }
    }
  });
}

absl::Status SvmOutputBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(SVMOutput, DeviceType::kCpu, kAnyDType, CopyData);
COOPER_REGISTER_KERNEL(_backward_SVMOutput, DeviceType::kCpu, kFloats, SvmOutputBackwardCpu);

}  // namespace
}  // namespace cooper
