// Kernels of softmax_cross_entropy and its gradient.

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/softmax/softmax_row.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

// Computes the softmax of data row by row, then adds the losses of the rows in order.
template <typename T>
void Forward(const KernelContext& c) {
  using enum LossArrays::Input;
  const int64_t n = c.inputs[kData].shape[0];
  const int64_t classes = c.inputs[kData].shape[1];
  const T* data = c.inputs[kData].as<T>();
  const T* label = c.inputs[kLabel].as<T>();
  T* softmax = static_cast<T*>(c.workspace);
  ParallelFor(n, RowGrain(classes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      SoftmaxRow(data + i * classes, classes, softmax + i * classes);
    }
  });
  T loss = 0;
  for (int64_t i = 0; i < n && classes > 0; ++i) {
    const int64_t own = std::clamp<int64_t>(IntegerOf<int64_t>(label[i]), 0, classes - 1);
    loss -= std::log(std::max(softmax[i * classes + own], T{1e-8}));
  }
  Store(c.outputs[0].as<T>(), loss, c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
void Backward(const KernelContext& c) {
  using enum SoftmaxCrossEntropyGradientArrays::Input;
  const int64_t n = c.outputs[0].shape[0];
  const int64_t classes = c.outputs[0].shape[1];
  const T head = *c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  const T* label = c.inputs[kLabel].as<T>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  T* softmax = add ? static_cast<T*>(c.workspace) : grad;
  ParallelFor(n, RowGrain(classes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = softmax + i * classes;
      SoftmaxRow(data + i * classes, classes, row);
      const auto own = IntegerOf<int64_t>(label[i]);
      if (own >= 0 && own < classes) row[own] -= T{1};
      for (int64_t j = 0; j < classes; ++j) Store(grad + i * classes + j, row[j] * head, add);
    }
  });
}

absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  using enum LossArrays::Input;
  return Prepared{.workspace_bytes = c.inputs[kData].size_bytes()};
}
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

absl::Status ForwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status BackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(softmax_cross_entropy, DeviceType::kCpu, kFloat32Or64, ForwardCpu,
                       PrepareForward);
COOPER_REGISTER_KERNEL(_backward_softmax_cross_entropy, DeviceType::kCpu, kFloat32Or64, BackwardCpu,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
