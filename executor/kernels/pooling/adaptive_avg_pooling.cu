// GPU kernels of _contrib_AdaptiveAvgPooling2D.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/pooling/adaptive_window.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/adaptive_avg_pooling_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Forward(int64_t count, AdaptiveAxis rows, AdaptiveAxis columns, const T* data,
                        T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t line = i / columns.out;
    const int64_t y = line % rows.out, x = i % columns.out;
    const int64_t bottom = rows.End(y), left = columns.Begin(x), right = columns.End(x);
    const T* plane = data + line / rows.out * rows.in * columns.in;
    C sum = 0;
    for (int64_t v = rows.Begin(y); v < bottom; ++v) {
      for (int64_t u = left; u < right; ++u) sum += ConvertElement<C>(plane[v * columns.in + u]);
    }
    sum = sum / static_cast<C>(columns.Size(x)) / static_cast<C>(rows.Size(y));
    StoreTo(out + i, sum, add);
  }
}

// Computes the gradient by gathering, without atomics: results have the same bits each time.
template <typename T>
__global__ void Backward(int64_t count, AdaptiveAxis rows, AdaptiveAxis columns, const T* ograd,
                         T* grad, bool add) {
  using C = ComputeType<T>;
  const AdaptiveAxis above = {rows.out, rows.in}, beside = {columns.out, columns.in};
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t line = i / columns.in;
    const int64_t y = line % rows.in, x = i % columns.in;
    const int64_t bottom = above.End(y), left = beside.Begin(x), right = beside.End(x);
    const T* head = ograd + line / rows.in * rows.out * columns.out;
    C sum = 0;
    for (int64_t v = above.Begin(y); v < bottom; ++v) {
      for (int64_t u = left; u < right; ++u) {
        sum += ConvertElement<C>(head[v * columns.out + u]) / static_cast<C>(rows.Size(v)) /
               static_cast<C>(columns.Size(u));
      }
    }
    StoreTo(grad + i, sum, add);
  }
}

// Computes the means of whole planes. Each plane is a set.
template <typename T>
__global__ void MeanForward(SetPlan plan, const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const C sum =
        thread.SumOver<C>(set, [&](int64_t i, int64_t) { return ConvertElement<C>(data[i]); });
    if (set >= 0 && thread.IsFirst()) StoreTo(out + set, sum / static_cast<C>(plan.n), add);
  });
}

// Computes the gradient of the mean of planes of `size` elements.
template <typename T, typename Index>
__global__ void MeanBackward(int64_t count, Index size, const T* ograd, T* grad, bool add) {
  using C = ComputeType<T>;
  const auto load = [&](int64_t i) { return ograd[static_cast<Index>(i) / size]; };
  ForEachLoaded(count, load, [&](int64_t i, T head) {
    StoreTo(grad + i, ConvertElement<C>(head) / static_cast<C>(size), add);
  });
}

// Returns whether each plane of `pooled` is the mean of a whole plane.
bool IsMean(const Shape& pooled) { return pooled[2] == 1 && pooled[3] == 1; }

absl::Status AdaptiveAvgPoolingGpu(const KernelContext& c) {
  const ArrayView& output = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(output.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ArrayView& data = c.inputs[AdaptiveAvgPoolingArrays::kData];
    const bool add = c.reqs[0] == WriteReq::kAdd;
    if (IsMean(output.shape)) {
      return LaunchSets(c, PlanSets(output.size(), data.shape[2] * data.shape[3], 1),
                        MeanForward<T>, data.as<const T>(), output.as<T>(), add);
    }
    return LaunchElements(
        c, output.size(), Forward<T>, output.size(), AdaptiveAxis{data.shape[2], output.shape[2]},
        AdaptiveAxis{data.shape[3], output.shape[3]}, data.as<const T>(), output.as<T>(), add);
  });
}

absl::Status AdaptiveAvgPoolingBackwardGpu(const KernelContext& c) {
  const ArrayView& output = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(output.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ArrayView& ograd = c.inputs[AdaptiveAvgPoolingGradientArrays::kOgrad];
    const bool add = c.reqs[0] == WriteReq::kAdd;
    if (IsMean(ograd.shape)) {
      return DispatchIndex(output.size(), [&](auto zero) {
        using Index = decltype(zero);
        const auto size = static_cast<Index>(output.shape[2] * output.shape[3]);
        return LaunchElements(c, output.size(), MeanBackward<T, Index>, output.size(), size,
                              ograd.as<const T>(), output.as<T>(), add);
      });
    }
    return LaunchElements(
        c, output.size(), Backward<T>, output.size(), AdaptiveAxis{output.shape[2], ograd.shape[2]},
        AdaptiveAxis{output.shape[3], ograd.shape[3]}, ograd.as<const T>(), output.as<T>(), add);
  });
}

COOPER_REGISTER_KERNEL(_contrib_AdaptiveAvgPooling2D, DeviceType::kGpu, kCudaFloats,
                       AdaptiveAvgPoolingGpu);
COOPER_REGISTER_KERNEL(_backward_contrib_AdaptiveAvgPooling2D, DeviceType::kGpu, kCudaFloats,
                       AdaptiveAvgPoolingBackwardGpu);

}  // namespace
}  // namespace cooper
