// Kernels of Correlation and its gradient.

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "executor/cpu/dispatch_float.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "symbol/ops/nn/correlation_param.h"

namespace cooper {
namespace {

// Calls pair(output element, element of data1 or -1, element of data2 or -1) for everything that
// goes into sample n's output; -1 is padding. Both elements are of one channel.
template <typename Pair>
void ForEachPair(const CorrelationParam& param, const Shape& data, const Shape& output, int64_t n,
                 Pair&& pair) {
  const int64_t channels = data[1], height = data[2], width = data[3];
  const auto element = [&](int64_t k, int64_t y, int64_t x) {
    y -= param.pad_size;
    x -= param.pad_size;
    if (y < 0 || y >= height || x < 0 || x >= width) return int64_t{-1};
    return ((n * channels + k) * height + y) * width + x;
  };
  int64_t to = n * output.Product(1, 4);
  for (int64_t d = 0; d < output[1]; ++d) {
    const int64_t dx = (d % param.displacements() - param.radius()) * param.stride2;
    const int64_t dy = (d / param.displacements() - param.radius()) * param.stride2;
    for (int64_t i = 0; i < output[2]; ++i) {
      for (int64_t j = 0; j < output[3]; ++j, ++to) {
        for (int64_t h = 0; h < param.kernel_size; ++h) {
          const int64_t y = i * param.stride1 + param.max_displacement + h;
          for (int64_t w = 0; w < param.kernel_size; ++w) {
            const int64_t x = j * param.stride1 + param.max_displacement + w;
            for (int64_t k = 0; k < channels; ++k) {
              pair(to, element(k, y, x), element(k, y + dy, x + dx));
            }
          }
        }
      }
    }
  }
}

template <typename T>
T Value(const T* data, int64_t i) {
  return i < 0 ? T{0} : data[i];
}

template <typename T>
T PatchElements(const CorrelationParam& param, const Shape& data) {
  return static_cast<T>(param.kernel_size * param.kernel_size * data[1]);
}

template <typename T>
void Forward(const KernelContext& c) {
  using enum CorrelationArrays::Input;
  const auto& param = c.param<CorrelationParam>();
  const Shape& data = c.inputs[kData1].shape;
  const T* a = c.inputs[kData1].as<T>();
  const T* b = c.inputs[kData2].as<T>();
  T* out = c.outputs[0].as<T>();
  const T scale = T{1} / PatchElements<T>(param, data);
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(out, c.outputs[0].size(), T{0});
  ParallelFor(data[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      ForEachPair(param, data, c.outputs[0].shape, n, [&](int64_t to, int64_t i, int64_t j) {
        const T x = Value(a, i), y = Value(b, j);
        out[to] += (param.is_multiply ? x * y : std::abs(x - y)) * scale;
      });
    }
  });
}

template <typename T>
void Backward(const KernelContext& c) {
  using enum CorrelationGradientArrays::Input;
  const auto& param = c.param<CorrelationParam>();
  const Shape& data = c.inputs[kData1].shape;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* a = c.inputs[kData1].as<T>();
  const T* b = c.inputs[kData2].as<T>();
  T* grads[2] = {nullptr, nullptr};
  for (int i = 0; i < 2; ++i) {
    if (c.reqs[i] == WriteReq::kNull) continue;
    grads[i] = c.outputs[i].as<T>();
    if (c.reqs[i] == WriteReq::kWrite) std::fill_n(grads[i], c.outputs[i].size(), T{0});
  }
  const T scale = T{1} / PatchElements<T>(param, data);
  ParallelFor(data[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      ForEachPair(param, data, c.inputs[kOgrad].shape, n, [&](int64_t from, int64_t i, int64_t j) {
        const T g = ograd[from] * scale;
        const T x = Value(a, i), y = Value(b, j);
        const T sign = x >= y ? T{1} : T{-1};
        if (i >= 0 && grads[0] != nullptr) grads[0][i] += g * (param.is_multiply ? y : sign);
        if (j >= 0 && grads[1] != nullptr) grads[1][j] += g * (param.is_multiply ? x : -sign);
      });
    }
  });
}

absl::Status CorrelationCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status CorrelationBackwardCpu(const KernelContext& c) {
  using enum CorrelationGradientArrays::Input;
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(Correlation, DeviceType::kCpu, kFloat32Or64, CorrelationCpu);
COOPER_REGISTER_KERNEL(_backward_Correlation, DeviceType::kCpu, kFloat32Or64,
                       CorrelationBackwardCpu);

}  // namespace
}  // namespace cooper
