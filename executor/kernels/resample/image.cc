// Kernels of _image_to_tensor and _image_normalize.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/image_param.h"

namespace cooper {
namespace {

constexpr float kScale = 255;

// The extents of images (height, width, channels), or of their gradients.
struct Pixels {
  int64_t images, pixels, channels;

  explicit Pixels(const Shape& shape)
      : images(shape.Product(0, shape.rank() - 3)),
        pixels(shape.Product(shape.rank() - 3, shape.rank() - 1)),
        channels(shape[shape.rank() - 1]) {}

  // Calls fn(index in the images, index in their planes) for all elements. A thread processes whole
  // planes.
  template <typename Fn>
  void ForEach(Fn fn) const {
    ParallelFor(images * channels, RowGrain(pixels), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const int64_t image = plane / channels, channel = plane % channels;
        for (int64_t p = 0; p < pixels; ++p) {
          fn((image * pixels + p) * channels + channel, plane * pixels + p);
        }
      }
    });
  }
};

absl::Status ToTensorCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[ImageArrays::kData];
  DispatchDType(data.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* x = data.as<T>();
    auto* out = c.outputs[0].as<float>();
    const bool add = c.reqs[0] == WriteReq::kAdd;
    Pixels(data.shape).ForEach([=](int64_t from, int64_t to) {
      Store(out + to, ConvertElement<float>(x[from]) / kScale, add);
    });
  });
  return absl::OkStatus();
}

// Integer images have no gradient, so it is never requested.
absl::Status ToTensorBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto* ograd = c.inputs[ImageGradientArrays::kOgrad].as<float>();
    T* out = c.outputs[0].as<T>();
    const bool add = c.reqs[0] == WriteReq::kAdd;
    Pixels(c.outputs[0].shape).ForEach([=](int64_t to, int64_t from) {
      Store(out + to, static_cast<ComputeType<T>>(ograd[from] / kScale), add);
    });
  });
}

// Stores fn(x, mean, std) for each element x of input 0.
template <typename Fn>
absl::Status ForEachChannel(const KernelContext& c, Fn fn) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const auto& param = c.param<ImageNormalizeParam>();
    const Shape& shape = c.outputs[0].shape;
    const int64_t channels = shape[shape.rank() - 3];
    const int64_t pixels = shape.Product(shape.rank() - 2, shape.rank());
    const T* data = c.inputs[0].as<T>();
    T* out = c.outputs[0].as<T>();
    const bool add = c.reqs[0] == WriteReq::kAdd;
    ParallelFor(shape.num_elements() / pixels, RowGrain(pixels), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const C mean = param.mean_of(plane % channels), deviation = param.std_of(plane % channels);
        for (int64_t i = plane * pixels; i < (plane + 1) * pixels; ++i) {
          Store(out + i, fn(Load(data[i]), mean, deviation), add);
        }
      }
    });
  });
}

absl::Status NormalizeCpu(const KernelContext& c) {
  return ForEachChannel(c,
                        [](auto x, auto mean, auto deviation) { return (x - mean) / deviation; });
}

absl::Status NormalizeBackwardCpu(const KernelContext& c) {
  return ForEachChannel(c, [](auto head, auto, auto deviation) { return head / deviation; });
}

COOPER_REGISTER_KERNEL(_image_to_tensor, DeviceType::kCpu, kAnyDType, ToTensorCpu);
COOPER_REGISTER_KERNEL(_backward_image_to_tensor, DeviceType::kCpu, kFloats, ToTensorBackwardCpu);
COOPER_REGISTER_KERNEL(_image_normalize, DeviceType::kCpu, kFloats, NormalizeCpu);
COOPER_REGISTER_KERNEL(_backward_image_normalize, DeviceType::kCpu, kFloats, NormalizeBackwardCpu);

}  // namespace
}  // namespace cooper
