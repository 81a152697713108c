// GPU kernels of softmax_cross_entropy and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

// A row's maximum and sum(exp(x - maximum)).
template <typename T>
struct RowSums {
  T top, sum;

  __device__ RowSums(const SetThread& thread, int64_t set, const T* data) {
    T most = -HUGE_VAL;
    thread.ForEach(set, [&](int64_t i, int64_t) { most = data[i] <= most ? most : data[i]; });
    top = thread.Max(most);
    sum = thread.SumOver<T>(set, [&](int64_t i, int64_t) { return exp(data[i] - top); });
  }
};

template <typename T>
__global__ void RowLosses(SetPlan plan, const T* data, const T* label, T* losses) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const RowSums<T> row(thread, set, data);
    if (set < 0 || !thread.IsFirst()) return;
    const int64_t own = ConvertElement<int64_t>(label[set]);
    const int64_t at = own < 0 ? 0 : own < plan.n ? own : plan.n - 1;
    const T probability = exp(data[set * plan.n + at] - row.top) / row.sum;
    losses[set] = -log(probability <= T{1e-8} ? T{1e-8} : probability);  // a NaN stays NaN
  });
}

// Sums all losses in one block.
template <typename T>
__global__ void SumLosses(int64_t n, const T* losses, T* out, bool add) {
  const SetPlan plan{
      .outer = 1, .n = n, .inner = 1, .channels = false, .lanes = kSetThreads, .adjacent = true};
  const SetThread thread(plan);
  const T sum = thread.SumOver<T>(0, [&](int64_t i, int64_t) { return losses[i]; });
  if (thread.IsFirst()) StoreTo(out, sum, add);
}

// Computes ograd * (softmax - [j = label]).
template <typename T>
__global__ void Gradient(SetPlan plan, const T* ograd, const T* data, const T* label, T* grad,
                         bool add) {
  const SetThread thread(plan);
  const T head = *ograd;
  thread.ForEachSet([&](int64_t set) {
    const RowSums<T> row(thread, set, data);
    const int64_t own = set < 0 ? -1 : ConvertElement<int64_t>(label[set]);
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      const T y = exp(data[i] - row.top) / row.sum;
      StoreTo(grad + i, (j == own ? y - T{1} : y) * head, add);
    });
  });
}

// Prepares the forward kernel, whose workspace holds one loss for each row.
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  using enum LossArrays::Input;
  return Prepared{.workspace_bytes = c.inputs[kData].shape[0] * SizeOf(c.inputs[kData].dtype)};
}

template <typename T>
absl::Status Forward(const KernelContext& c) {
  using enum LossArrays::Input;
  const Shape& shape = c.inputs[kData].shape;
  T* losses = static_cast<T*>(c.workspace);
  const int64_t rows = shape[1] == 0 ? 0 : shape[0];
  COOPER_RETURN_IF_ERROR(LaunchSets(c, PlanSets(rows, shape[1], 1), RowLosses<T>,
                                    c.inputs[kData].as<T>(), c.inputs[kLabel].as<T>(), losses));
  return Launch(c, dim3(1), dim3(kSetThreads), SumLosses<T>, rows, losses, c.outputs[0].as<T>(),
                c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status Backward(const KernelContext& c) {
  using enum SoftmaxCrossEntropyGradientArrays::Input;
  const Shape& shape = c.outputs[0].shape;
  return LaunchSets(c, PlanSets(shape[0], shape[1], 1), Gradient<T>, c.inputs[kOgrad].as<T>(),
                    c.inputs[kData].as<T>(), c.inputs[kLabel].as<T>(), c.outputs[0].as<T>(),
                    c.reqs[0] == WriteReq::kAdd);
}

absl::Status ForwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? Forward<double>(c) : Forward<float>(c);
}

absl::Status BackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? Backward<double>(c) : Backward<float>(c);
}

COOPER_REGISTER_KERNEL(softmax_cross_entropy, DeviceType::kGpu, kFloat32Or64, ForwardGpu,
                       PrepareForward);
COOPER_REGISTER_KERNEL(_backward_softmax_cross_entropy, DeviceType::kGpu, kFloat32Or64,
                       BackwardGpu);

}  // namespace
}  // namespace cooper
