// GPU kernels of Correlation and its gradient. The gradients are gathered: a thread owns one
// element of data1 or data2 and sums over the pairs that contain it, in the order of the output.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/correlation_param.h"

namespace cooper {
namespace {

struct Extents {
  int64_t channels, height, width, out_h, out_w;
  int64_t displacements, radius, stride1, stride2, kernel, border, pad;
  bool is_multiply;

  // The offset of the second patch in displacement d.
  __device__ int64_t Dx(int64_t d) const { return (d % displacements - radius) * stride2; }
  __device__ int64_t Dy(int64_t d) const { return (d / displacements - radius) * stride2; }
  // Returns the offset in a plane of element (y, x), which count the padding; -1 in the padding.
  __device__ int64_t At(int64_t y, int64_t x) const {
    y -= pad;
    x -= pad;
    return y < 0 || y >= height || x < 0 || x >= width ? -1 : y * width + x;
  }
};

Extents ExtentsOf(const CorrelationParam& param, const Shape& data, const Shape& output) {
  return {.channels = data[1],
          .height = data[2],
          .width = data[3],
          .out_h = output[2],
          .out_w = output[3],
          .displacements = param.displacements(),
          .radius = param.radius(),
          .stride1 = param.stride1,
          .stride2 = param.stride2,
          .kernel = param.kernel_size,
          .border = param.max_displacement,
          .pad = param.pad_size,
          .is_multiply = param.is_multiply};
}

template <typename T>
__device__ T ValueAt(const T* plane, int64_t i) {
  return i < 0 ? T{0} : plane[i];
}

template <typename T>
__global__ void Forward(int64_t count, Extents e, T scale, const T* data1, const T* data2, T* out,
                        bool add) {
  for (int64_t to = FirstElement(); to < count; to += ElementStep()) {
    const int64_t j = to % e.out_w, i = to / e.out_w % e.out_h;
    const int64_t rest = to / e.out_w / e.out_h;
    const int64_t d = rest % (e.displacements * e.displacements);
    const int64_t n = rest / (e.displacements * e.displacements);
    const int64_t image = n * e.channels * e.height * e.width;
    T sum = 0;
    for (int64_t h = 0; h < e.kernel; ++h) {
      const int64_t y = i * e.stride1 + e.border + h;
      for (int64_t w = 0; w < e.kernel; ++w) {
        const int64_t x = j * e.stride1 + e.border + w;
        const int64_t at1 = e.At(y, x), at2 = e.At(y + e.Dy(d), x + e.Dx(d));
        for (int64_t k = 0; k < e.channels; ++k) {
          const int64_t plane = image + k * e.height * e.width;
          const T a = ValueAt(data1 + plane, at1), b = ValueAt(data2 + plane, at2);
          sum += e.is_multiply ? a * b : fabs(a - b);
        }
      }
    }
    StoreTo(out + to, sum * scale, add);
  }
}

// Computes the gradient of data1 or, with `second`, of data2.
template <typename T>
__global__ void Backward(int64_t count, Extents e, T scale, const T* ograd, const T* data1,
                         const T* data2, bool second, T* grad, bool add) {
  const int64_t all = e.displacements * e.displacements;
  for (int64_t to = FirstElement(); to < count; to += ElementStep()) {
    const int64_t own_x = to % e.width + e.pad, own_y = to / e.width % e.height + e.pad;
    const int64_t image = to / e.width / e.height;
    const int64_t plane = image * e.height * e.width, n = image / e.channels;
    T sum = 0;
    for (int64_t d = 0; d < all; ++d) {
      // The element of data1 in the pair.
      const int64_t y = second ? own_y - e.Dy(d) : own_y, x = second ? own_x - e.Dx(d) : own_x;
      const int64_t at1 = e.At(y, x), at2 = e.At(y + e.Dy(d), x + e.Dx(d));
      const T a = ValueAt(data1 + plane, at1), b = ValueAt(data2 + plane, at2);
      const T sign = a >= b ? T{1} : T{-1};
      const T slope = e.is_multiply ? (second ? a : b) : (second ? -sign : sign);
      for (int64_t h = 0; h < e.kernel; ++h) {
        const int64_t from_y = y - e.border - h;
        if (from_y < 0 || from_y % e.stride1 != 0 || from_y / e.stride1 >= e.out_h) continue;
        for (int64_t w = 0; w < e.kernel; ++w) {
          const int64_t from_x = x - e.border - w;
          if (from_x < 0 || from_x % e.stride1 != 0 || from_x / e.stride1 >= e.out_w) continue;
          const int64_t from =
              ((n * all + d) * e.out_h + from_y / e.stride1) * e.out_w + from_x / e.stride1;
          sum += ograd[from] * scale * slope;
        }
      }
    }
    StoreTo(grad + to, sum, add);
  }
}

template <typename T>
T ScaleOf(const Extents& e) {
  return T{1} / static_cast<T>(e.kernel * e.kernel * e.channels);
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum CorrelationArrays::Input;
  const Extents e =
      ExtentsOf(c.param<CorrelationParam>(), c.inputs[kData1].shape, c.outputs[0].shape);
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Forward<T>, count, e, ScaleOf<T>(e), c.inputs[kData1].as<T>(),
                        c.inputs[kData2].as<T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum CorrelationGradientArrays::Input;
  const Extents e =
      ExtentsOf(c.param<CorrelationParam>(), c.inputs[kData1].shape, c.inputs[kOgrad].shape);
  for (int i = 0; i < 2; ++i) {
    if (c.reqs[i] == WriteReq::kNull) continue;
    const int64_t count = c.outputs[i].size();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, count, Backward<T>, count, e, ScaleOf<T>(e),
                                          c.inputs[kOgrad].as<T>(), c.inputs[kData1].as<T>(),
                                          c.inputs[kData2].as<T>(), i == 1, c.outputs[i].as<T>(),
                                          c.reqs[i] == WriteReq::kAdd));
  }
  return absl::OkStatus();
}

absl::Status CorrelationGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunForward<double>(c) : RunForward<float>(c);
}

absl::Status CorrelationBackwardGpu(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? RunBackward<double>(c) : RunBackward<float>(c);
}

COOPER_REGISTER_KERNEL(Correlation, DeviceType::kGpu, kFloat32Or64, CorrelationGpu);
COOPER_REGISTER_KERNEL(_backward_Correlation, DeviceType::kGpu, kFloat32Or64,
                       CorrelationBackwardGpu);

}  // namespace
}  // namespace cooper
