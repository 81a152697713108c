// Kernels of layers of 8-bit integers. Products are exact: sums of int32, which wrap around as
// MXNet's.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

constexpr int kData = 0, kWeight = 1, kBias = 2;

// Returns the sum of the products of `count` pairs, modulo 2^32.
template <typename T>
uint32_t Dot(const T* a, const int8_t* b, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += static_cast<uint32_t>(int32_t{a[i]} * int32_t{b[i]});
  }
  return sum;
}

// Writes the range of a product: steps of data and weight have `data_steps` and `weight_steps`
// integers for the greatest number. `ranges` is the first input that is a range.
void PutProductRange(const KernelContext& c, int ranges, float data_steps, float weight_steps) {
  const float step =
      InputMagnitude(c, ranges) / data_steps * (InputMagnitude(c, ranges + 2) / weight_steps);
  const float magnitude = step * QuantizedSteps(DType::kInt32);
  PutRange(c, -magnitude, magnitude);
}

template <typename T>
void FullyConnected(const KernelContext& c) {
  const auto& param = c.param<FullyConnectedParam>();
  const int ranges = param.no_bias ? 2 : 3;
  const bool is_signed = c.inputs[kData].dtype == DType::kInt8;
  PutProductRange(c, ranges, 127, is_signed ? 127 : 255);
  if (c.reqs[0] == WriteReq::kNull) return;
  // A bias has a range of its own; it is rounded towards 0 to steps of the product.
  float bias_scale = 0;
  if (!param.no_bias) {
    const float data = QuantizedSteps(c.inputs[kData].dtype) / InputMagnitude(c, ranges);
    const float weight = QuantizedSteps(DType::kInt8) / InputMagnitude(c, ranges + 2);
    bias_scale = data * weight * InputMagnitude(c, ranges + 4) / QuantizedSteps(DType::kInt8);
  }
  const int64_t hidden = param.num_hidden, inputs = c.inputs[kWeight].shape[1];
  const T* data = c.inputs[kData].as<T>();
  const int8_t* weight = c.inputs[kWeight].as<int8_t>();
  const int8_t* bias = param.no_bias ? nullptr : c.inputs[kBias].as<int8_t>();
  int32_t* out = c.outputs[0].as<int32_t>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(c.outputs[0].size(), RowGrain(inputs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / hidden, k = i % hidden;
      const uint32_t sum = Dot(data + row * inputs, weight + k * inputs, inputs);
      const int32_t shift =
          bias == nullptr ? 0 : IntegerOf<int32_t>(static_cast<float>(bias[k]) * bias_scale);
      PutInteger(out + i, static_cast<int32_t>(sum + static_cast<uint32_t>(shift)), add);
    }
  });
}

// Copies the windows of an image to rows (positions, channels * kernel); padding is 0.
template <typename T>
void CopyWindows(const WindowGeometry& g, const T* image, T* rows) {
  ParallelFor(g.columns(), RowGrain(g.rows()), [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position) {
      // The first element of the window, which may be in the padding.
      const int64_t z0 = position / (g.out[1] * g.out[2]) * g.stride[0] - g.pad[0];
      const int64_t y0 = position / g.out[2] % g.out[1] * g.stride[1] - g.pad[1];
      const int64_t x0 = position % g.out[2] * g.stride[2] - g.pad[2];
      T* to = rows + position * g.rows();
      for (int64_t row = 0; row < g.channels * g.kernel[0] * g.kernel[1]; ++row) {
        const int64_t channel = row / (g.kernel[0] * g.kernel[1]);
        const int64_t z = z0 + row / g.kernel[1] % g.kernel[0] * g.dilate[0];
        const int64_t y = y0 + row % g.kernel[1] * g.dilate[1];
        const bool inside = z >= 0 && z < g.in[0] && y >= 0 && y < g.in[1];
        const int64_t line = ((channel * g.in[0] + z) * g.in[1] + y) * g.in[2];
        for (int64_t k = 0; k < g.kernel[2]; ++k) {
          const int64_t x = x0 + k * g.dilate[2];
          *to++ = inside && x >= 0 && x < g.in[2] ? image[line + x] : T{0};
        }
      }
    }
  });
}

template <typename T>
void Convolution(const KernelContext& c) {
  const auto& param = c.param<ConvolutionParam>();
  PutProductRange(c, param.no_bias ? 2 : 3, 127, 127);
  if (c.reqs[0] == WriteReq::kNull) return;
  const ConvolutionProduct p = ProductOf(param, c.inputs[kData].shape, c.outputs[0].shape);
  const int8_t* weight = c.inputs[kWeight].as<int8_t>();
  // The bias is added to the sums without regard to its range, as in MXNet.
  const int8_t* bias = param.no_bias ? nullptr : c.inputs[kBias].as<int8_t>();
  T* rows = static_cast<T*>(c.workspace);
  const int64_t size = p.g.rows(), positions = p.g.columns();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  for (int64_t n = 0; n < p.batch; ++n) {
    CopyWindows(p.g, c.inputs[kData].as<T>() + n * p.image_step(), rows);
    int32_t* out = c.outputs[0].as<int32_t>() + n * p.map_step();
    ParallelFor(p.filters * positions, RowGrain(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t filter = i / positions;
        uint32_t sum = Dot(rows + i % positions * size, weight + filter * size, size);
        if (bias != nullptr) sum += static_cast<uint32_t>(int32_t{bias[filter]});
        PutInteger(out + i, static_cast<int32_t>(sum), add);
      }
    });
  }
}

absl::Status FullyConnectedCpu(const KernelContext& c) {
  if (c.inputs[kData].dtype == DType::kInt8) {
    FullyConnected<int8_t>(c);
  } else {
    FullyConnected<uint8_t>(c);
  }
  return absl::OkStatus();
}

absl::Status ConvolutionCpu(const KernelContext& c) {
  if (c.inputs[kData].dtype == DType::kInt8) {
    Convolution<int8_t>(c);
  } else {
    Convolution<uint8_t>(c);
  }
  return absl::OkStatus();
}

absl::Status CheckData(const PrepareContext& c) {
  if (c.inputs[kData].dtype != DType::kInt32) return absl::OkStatus();
  return absl::InvalidArgumentError("input 'data' is int32, expected int8 or uint8");
}

absl::StatusOr<Prepared> PrepareFullyConnected(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckData(c));
  return Prepared{};
}

// Returns a workspace for the windows of an image.
absl::StatusOr<Prepared> PrepareConvolution(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckData(c));
  const ConvolutionProduct p =
      ProductOf(c.param<ConvolutionParam>(), c.inputs[kData].shape, c.outputs[0].shape);
  return Prepared{.workspace_bytes = p.g.rows() * p.g.columns()};
}

// Calls fn(begin, end) for parts of the elements of output 0.
template <typename Fn>
void ForEachElement(const KernelContext& c, const Fn& fn) {
  if (c.reqs[0] != WriteReq::kNull) ParallelFor(c.outputs[0].size(), 16384, fn);
}

// The range of data is that of the output.
void PassRange(const KernelContext& c) {
  PutRange(c, *c.inputs[QuantizedArrays::kMin].as<float>(),
           *c.inputs[QuantizedArrays::kMax].as<float>());
}

absl::Status ActivationCpu(const KernelContext& c) {
  PassRange(c);
  const int8_t* x = c.inputs[0].as<int8_t>();
  int8_t* y = c.outputs[0].as<int8_t>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ForEachElement(c, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) PutInteger(y + i, std::max<int8_t>(x[i], 0), add);
  });
  return absl::OkStatus();
}

// Moves bytes, whether they are signed or not.
absl::Status FlattenCpu(const KernelContext& c) {
  PassRange(c);
  const uint8_t* x = c.inputs[0].as<uint8_t>();
  uint8_t* y = c.outputs[0].as<uint8_t>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ForEachElement(c, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) PutInteger(y + i, x[i], add);
  });
  return absl::OkStatus();
}

constexpr DeviceType kCpu = DeviceType::kCpu;
constexpr DTypeSet kEightBits = {DType::kInt8, DType::kUint8};
constexpr DTypeSet kProducts = {DType::kInt8, DType::kUint8, DType::kInt32};
COOPER_REGISTER_KERNEL(_contrib_quantized_fully_connected, kCpu, kProducts, FullyConnectedCpu,
                       PrepareFullyConnected);
COOPER_REGISTER_KERNEL(_contrib_quantized_conv, kCpu, kProducts, ConvolutionCpu,
                       PrepareConvolution);
COOPER_REGISTER_KERNEL(_contrib_quantized_act, kCpu, DTypeSet{DType::kInt8}, ActivationCpu);
COOPER_REGISTER_KERNEL(_contrib_quantized_flatten, kCpu, kEightBits, FlattenCpu);

}  // namespace
}  // namespace cooper
