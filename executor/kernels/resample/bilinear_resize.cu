// GPU kernels of _contrib_BilinearResize2D.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/resample/resized_axis.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/bilinear_resize_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Forward(int64_t count, ResizedAxis rows, ResizedAxis columns, const T* data, T* out,
                        bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t line = i / columns.out;
    const double y = rows.Position(line % rows.out), x = columns.Position(i % columns.out);
    const int64_t above = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
    const int64_t right = left + 1 < columns.in ? left + 1 : left;
    const C down = static_cast<C>(y - static_cast<double>(above));
    const C across = static_cast<C>(x - static_cast<double>(left));
    const T* upper = data + (line / rows.out * rows.in + above) * columns.in;
    const T* lower = above + 1 < rows.in ? upper + columns.in : upper;
    const C top =
        (1 - across) * ConvertElement<C>(upper[left]) + across * ConvertElement<C>(upper[right]);
    const C bottom =
        (1 - across) * ConvertElement<C>(lower[left]) + across * ConvertElement<C>(lower[right]);
    StoreTo(out + i, (1 - down) * top + down * bottom, add);
  }
}

// Computes the gradient by gathering, without atomics: results have the same bits each time.
template <typename T>
__global__ void Backward(int64_t count, ResizedAxis rows, ResizedAxis columns, const T* ograd,
                         T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t line = i / columns.in;
    const int64_t y = line % rows.in, x = i % columns.in;
    const int64_t bottom = rows.End(y), left = columns.Begin(x), right = columns.End(x);
    const T* head = ograd + line / rows.in * rows.out * columns.out;
    C sum = 0;
    for (int64_t v = rows.Begin(y); v < bottom; ++v) {
      C across = 0;
      for (int64_t u = left; u < right; ++u) {
        across +=
            static_cast<C>(columns.Weight(u, x)) * ConvertElement<C>(head[v * columns.out + u]);
      }
      sum += static_cast<C>(rows.Weight(v, y)) * across;
    }
    StoreTo(grad + i, sum, add);
  }
}

absl::Status BilinearResizeGpu(const KernelContext& c) {
  const ArrayView& output = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(output.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ArrayView& data = c.inputs[BilinearResizeArrays::kData];
    const bool align_corners = c.param<BilinearResizeParam>().align_corners;
    return LaunchElements(c, output.size(), Forward<T>, output.size(),
                          ResizedAxis(data.shape[2], output.shape[2], align_corners),
                          ResizedAxis(data.shape[3], output.shape[3], align_corners),
                          data.as<const T>(), output.as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status BilinearResizeBackwardGpu(const KernelContext& c) {
  const ArrayView& output = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(output.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ArrayView& ograd = c.inputs[BilinearResizeGradientArrays::kOgrad];
    const bool align_corners = c.param<BilinearResizeParam>().align_corners;
    return LaunchElements(c, output.size(), Backward<T>, output.size(),
                          ResizedAxis(output.shape[2], ograd.shape[2], align_corners),
                          ResizedAxis(output.shape[3], ograd.shape[3], align_corners),
                          ograd.as<const T>(), output.as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(_contrib_BilinearResize2D, DeviceType::kGpu, kCudaFloats, BilinearResizeGpu);
COOPER_REGISTER_KERNEL(_backward_contrib_BilinearResize2D, DeviceType::kGpu, kCudaFloats,
                       BilinearResizeBackwardGpu);

}  // namespace
}  // namespace cooper
