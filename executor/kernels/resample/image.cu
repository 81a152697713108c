// GPU kernels of _image_to_tensor and _image_normalize.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/nn/image_param.h"

namespace cooper {
namespace {

constexpr float kScale = 255;
constexpr int kMaxChannels = 3;

// Maps element i of planes (images, channels, pixels) to element From(i) of (images, pixels,
// channels).
struct Pixels {
  int64_t pixels, channels;

  __device__ int64_t From(int64_t i) const {
    const int64_t plane = i / pixels, image = plane / channels;
    return (image * pixels + i % pixels) * channels + plane % channels;
  }
};

Pixels PixelsOf(const Shape& images) {
  const int rank = images.rank();
  return {images.Product(rank - 3, rank - 1), images[rank - 1]};
}

__global__ void ToTensor(int64_t n, Pixels pixels, const void* data, DType dtype, float* out,
                         bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + i, LoadElement<float>(data, dtype, pixels.From(i)) / kScale, add);
  }
}

template <typename T>
__global__ void ToTensorGradient(int64_t n, Pixels pixels, const float* ograd, T* out, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + pixels.From(i), static_cast<ComputeType<T>>(ograd[i] / kScale), add);
  }
}

struct Channels {
  int64_t pixels, channels;
  float mean[kMaxChannels], deviation[kMaxChannels];
};

template <typename T>
__global__ void Normalize(int64_t n, Channels c, const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t channel = i / c.pixels % c.channels;
    const C difference = ConvertElement<C>(data[i]) - static_cast<C>(c.mean[channel]);
    StoreTo(out + i, difference / static_cast<C>(c.deviation[channel]), add);
  }
}

bool IsEmpty(const KernelContext& c) {
  return c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0;
}

absl::Status ToTensorGpu(const KernelContext& c) {
  if (IsEmpty(c)) return absl::OkStatus();
  const ArrayView& data = c.inputs[ImageArrays::kData];
  return LaunchElements(c, data.size(), ToTensor, data.size(), PixelsOf(data.shape), data.data,
                        data.dtype, c.outputs[0].as<float>(), c.reqs[0] == WriteReq::kAdd);
}

absl::Status ToTensorGradientGpu(const KernelContext& c) {
  if (IsEmpty(c)) return absl::OkStatus();
  const ArrayView& out = c.outputs[0];
  return DispatchCudaFloat(out.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return LaunchElements(c, out.size(), ToTensorGradient<T>, out.size(), PixelsOf(out.shape),
                          c.inputs[ImageGradientArrays::kOgrad].as<float>(), out.as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  });
}

// Normalizes input 0. The gradient is the same computation with mean 0.
absl::Status NormalizeBy(const KernelContext& c, bool is_gradient) {
  if (IsEmpty(c)) return absl::OkStatus();
  const auto& param = c.param<ImageNormalizeParam>();
  const ArrayView& out = c.outputs[0];
  const int rank = out.shape.rank();
  Channels channels = {.pixels = out.shape.Product(rank - 2, rank),
                       .channels = out.shape[rank - 3],
                       .mean = {},
                       .deviation = {}};
  for (int64_t k = 0; k < channels.channels; ++k) {
    channels.mean[k] = is_gradient ? 0 : param.mean_of(k);
    channels.deviation[k] = param.std_of(k);
  }
  return DispatchCudaFloat(out.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return LaunchElements(c, out.size(), Normalize<T>, out.size(), channels, c.inputs[0].as<T>(),
                          out.as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status NormalizeGpu(const KernelContext& c) { return NormalizeBy(c, /*is_gradient=*/false); }
absl::Status NormalizeGradientGpu(const KernelContext& c) {
  return NormalizeBy(c, /*is_gradient=*/true);
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(_image_to_tensor, kGpu, kAnyDType, ToTensorGpu);
COOPER_REGISTER_KERNEL(_backward_image_to_tensor, kGpu, kCudaFloats, ToTensorGradientGpu);
COOPER_REGISTER_KERNEL(_image_normalize, kGpu, kCudaFloats, NormalizeGpu);
COOPER_REGISTER_KERNEL(_backward_image_normalize, kGpu, kCudaFloats, NormalizeGradientGpu);

}  // namespace
}  // namespace cooper
