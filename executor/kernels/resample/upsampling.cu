// GPU kernels of UpSampling and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/upsampling_param.h"

namespace cooper {
namespace {

// The extents of a small array and of the large array that contains its result from `channel` on.
struct Images {
  int64_t channels, height, width;              // of the small array
  int64_t all_channels, all_height, all_width;  // of the large array
  int64_t channel;

  __device__ int64_t scale_y() const { return all_height / height; }
  __device__ int64_t scale_x() const { return all_width / width; }
  // Returns the first element of the large array's plane for plane i of the small one.
  template <typename I>
  __device__ int64_t LargePlane(I i) const {
    const I image = i / static_cast<I>(channels), rest = i - image * static_cast<I>(channels);
    return (static_cast<int64_t>(image) * all_channels + channel + rest) * all_height * all_width;
  }
};

Images ImagesOf(const Shape& small, const Shape& large, int64_t channel) {
  return {small[1], small[2], small[3], large[1], large[2], large[3], channel};
}

// Writes or adds the upsampled small array to its channels of the large one. `count` is the number
// of these elements. Indices have type I.
template <typename T, typename I>
__global__ void NearestForward(int64_t count, Images m, const T* in, T* out, bool add) {
  using C = ComputeType<T>;
  const I width = static_cast<I>(m.all_width), height = static_cast<I>(m.all_height);
  const I scale_x = static_cast<I>(m.scale_x()), scale_y = static_cast<I>(m.scale_y());
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const I row = static_cast<I>(i) / width, x = static_cast<I>(i) - row * width;
    const I plane = row / height, y = row - plane * height;
    const I from = (plane * static_cast<I>(m.height) + y / scale_y) * static_cast<I>(m.width);
    const T value = in[from + x / scale_x];
    StoreTo(out + m.LargePlane(plane) + y * width + x, ConvertElement<C>(value), add);
  }
}

template <typename T, typename I>
__global__ void NearestBackward(int64_t count, Images m, const T* ograd, T* grad, bool add) {
  using C = ComputeType<T>;
  const I width = static_cast<I>(m.width), height = static_cast<I>(m.height);
  const I scale_x = static_cast<I>(m.scale_x()), scale_y = static_cast<I>(m.scale_y());
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const I row = static_cast<I>(i) / width, x = static_cast<I>(i) - row * width;
    const I plane = row / height, y = row - plane * height;
    const T* from =
        ograd + m.LargePlane(plane) + y * scale_y * static_cast<I>(m.all_width) + x * scale_x;
    C sum = 0;
    for (I v = 0; v < scale_y; ++v, from += m.all_width) {
      for (I u = 0; u < scale_x; ++u) sum += ConvertElement<C>(from[u]);
    }
    StoreTo(grad + i, sum, add);
  }
}

// sample_type bilinear: a transposed convolution of each channel with its own window. Element (y,
// x) of a small plane contributes weight (v, u) to (y * scale - pad + v, x * scale - pad + u) of
// the large one.
struct Bilinear {
  Images m;
  int64_t scale, kernel, pad;
};

template <typename T>
__global__ void BilinearForward(int64_t count, Bilinear b, const T* data, const T* weight, T* out,
                                bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t x = i % b.m.all_width + b.pad;
    const int64_t y = i / b.m.all_width % b.m.all_height + b.pad;
    const int64_t plane = i / b.m.all_width / b.m.all_height;
    const T* w = weight + plane % b.m.channels * b.kernel * b.kernel;
    const T* in = data + plane * b.m.height * b.m.width;
    C sum = 0;
    for (int64_t v = y % b.scale; v < b.kernel && v <= y; v += b.scale) {
      const int64_t from_y = (y - v) / b.scale;
      if (from_y >= b.m.height) continue;
      for (int64_t u = x % b.scale; u < b.kernel && u <= x; u += b.scale) {
        const int64_t from_x = (x - u) / b.scale;
        if (from_x >= b.m.width) continue;
        sum += ConvertElement<C>(in[from_y * b.m.width + from_x]) *
               ConvertElement<C>(w[v * b.kernel + u]);
      }
    }
    StoreTo(out + i, sum, add);
  }
}

template <typename T>
__global__ void BilinearDataGradient(int64_t count, Bilinear b, const T* ograd, const T* weight,
                                     T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t x = i % b.m.width * b.scale - b.pad;
    const int64_t y = i / b.m.width % b.m.height * b.scale - b.pad;
    const int64_t plane = i / b.m.width / b.m.height;
    const T* w = weight + plane % b.m.channels * b.kernel * b.kernel;
    const T* g = ograd + plane * b.m.all_height * b.m.all_width;
    C sum = 0;
    for (int64_t v = 0; v < b.kernel; ++v) {
      if (y + v < 0 || y + v >= b.m.all_height) continue;
      for (int64_t u = 0; u < b.kernel; ++u) {
        if (x + u < 0 || x + u >= b.m.all_width) continue;
        sum += ConvertElement<C>(g[(y + v) * b.m.all_width + x + u]) *
               ConvertElement<C>(w[v * b.kernel + u]);
      }
    }
    StoreTo(grad + i, sum, add);
  }
}

// Computes the gradient of the weight. Each set of the plan is one weight, whose gradient is a sum
// over the small elements of its channel in all images.
template <typename T>
__global__ void BilinearWeightGradient(SetPlan plan, Bilinear b, const T* ograd, const T* data,
                                       T* grad, bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const int64_t u = set % b.kernel, v = set / b.kernel % b.kernel;
    const int64_t channel = set / b.kernel / b.kernel;
    const C sum = thread.SumOver<C>(set, [&](int64_t, int64_t j) {
      const int64_t x = j % b.m.width, y = j / b.m.width % b.m.height;
      const int64_t large_x = x * b.scale - b.pad + u, large_y = y * b.scale - b.pad + v;
      if (large_x < 0 || large_x >= b.m.all_width || large_y < 0 || large_y >= b.m.all_height) {
        return C{0};
      }
      const int64_t at = j / b.m.width / b.m.height * b.m.channels + channel;
      return ConvertElement<C>(ograd[(at * b.m.all_height + large_y) * b.m.all_width + large_x]) *
             ConvertElement<C>(data[(at * b.m.height + y) * b.m.width + x]);
    });
    if (set >= 0 && thread.IsFirst()) StoreTo(grad + set, sum, add);
  });
}

bool IsBilinear(const KernelContext& c) {
  return c.param<UpSamplingParam>().sample_type == UpSamplingParam::kBilinear;
}

Bilinear BilinearOf(const KernelContext& c, const Shape& small, const Shape& large) {
  const auto& param = c.param<UpSamplingParam>();
  return {ImagesOf(small, large, 0), param.scale, param.kernel(), param.scale / 2};
}

template <typename T>
absl::Status Forward(const KernelContext& c) {
  using enum BilinearUpSamplingArrays::Input;
  const auto& param = c.param<UpSamplingParam>();
  const Shape& large = c.outputs[0].shape;
  T* out = c.outputs[0].as<T>();
  if (IsBilinear(c)) {
    const int64_t count = c.outputs[0].size();
    return LaunchElements(c, count, BilinearForward<T>, count,
                          BilinearOf(c, c.inputs[kData].shape, large), c.inputs[kData].as<T>(),
                          c.inputs[kWeight].as<T>(), out, c.reqs[0] == WriteReq::kAdd);
  }
  const bool sum = param.multi_input_mode == UpSamplingParam::kSum;
  int64_t channel = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Shape& small = c.inputs[i].shape;
    const int64_t count = small[0] * small[1] * large[2] * large[3];
    const bool add = c.reqs[0] == WriteReq::kAdd || (sum && i > 0);
    COOPER_RETURN_IF_ERROR(DispatchIndex(c.outputs[0].size(), [&](auto index) {
      return LaunchElements(c, count, NearestForward<T, decltype(index)>, count,
                            ImagesOf(small, large, sum ? 0 : channel), c.inputs[i].as<T>(), out,
                            add);
    }));
    channel += small[1];
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BilinearBackward(const KernelContext& c) {
  using enum BilinearUpSamplingGradientArrays::Input;
  const Shape& small = c.inputs[kData].shape;
  const Bilinear b = BilinearOf(c, small, c.inputs[kOgrad].shape);
  const T* ograd = c.inputs[kOgrad].as<T>();
  if (c.reqs[0] != WriteReq::kNull) {
    const int64_t count = c.outputs[0].size();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, count, BilinearDataGradient<T>, count, b, ograd,
                                          c.inputs[kWeight].as<T>(), c.outputs[0].as<T>(),
                                          c.reqs[0] == WriteReq::kAdd));
  }
  if (c.reqs[1] == WriteReq::kNull) return absl::OkStatus();
  return LaunchSets(c, PlanSets(c.outputs[1].size(), small[0] * small[2] * small[3], 1),
                    BilinearWeightGradient<T>, b, ograd, c.inputs[kData].as<T>(),
                    c.outputs[1].as<T>(), c.reqs[1] == WriteReq::kAdd);
}

template <typename T>
absl::Status NearestBackwards(const KernelContext& c) {
  const bool sum = c.param<UpSamplingParam>().multi_input_mode == UpSamplingParam::kSum;
  int64_t channel = 0;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const Shape& small = c.outputs[i].shape;
    if (c.reqs[i] != WriteReq::kNull) {
      const int64_t count = c.outputs[i].size();
      COOPER_RETURN_IF_ERROR(DispatchIndex(c.inputs[0].size(), [&](auto index) {
        return LaunchElements(c, count, NearestBackward<T, decltype(index)>, count,
                              ImagesOf(small, c.inputs[0].shape, sum ? 0 : channel),
                              c.inputs[0].as<T>(), c.outputs[i].as<T>(),
                              c.reqs[i] == WriteReq::kAdd);
      }));
    }
    channel += small[1];
  }
  return absl::OkStatus();
}

absl::Status UpSamplingGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype,
                           [&](auto type) { return Forward<typename decltype(type)::type>(c); });
}

absl::Status UpSamplingBackwardGpu(const KernelContext& c) {
  return DispatchCudaFloat(c.inputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return IsBilinear(c) ? BilinearBackward<T>(c) : NearestBackwards<T>(c);
  });
}

COOPER_REGISTER_KERNEL(UpSampling, DeviceType::kGpu, kCudaFloats, UpSamplingGpu);
COOPER_REGISTER_KERNEL(_backward_UpSampling, DeviceType::kGpu, kCudaFloats, UpSamplingBackwardGpu);

}  // namespace
}  // namespace cooper
