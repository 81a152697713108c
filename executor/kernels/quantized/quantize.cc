// Kernels of _contrib_quantize_v2, _contrib_quantize, _contrib_quantize_asym, _contrib_requantize
// and _contrib_dequantize.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

constexpr int64_t kGrain = 16384;

// Returns the least and the greatest of `count` elements; {0, 0} of none. Parts of the array are
// reduced by different threads.
template <typename T>
std::pair<T, T> LeastAndGreatest(const T* x, int64_t count) {
  if (count == 0) return {T{0}, T{0}};
  constexpr int64_t kParts = 64;
  T least[kParts], greatest[kParts];
  const int64_t parts = std::min(kParts, (count + kGrain - 1) / kGrain);
  ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = count * part / parts, last = count * (part + 1) / parts;
      // Compilers vectorise lanes, but no plain loop, as the order of floats may count.
      constexpr int kLanes = 16;
      T low[kLanes], high[kLanes];
      std::fill_n(low, kLanes, x[first]);
      std::fill_n(high, kLanes, x[first]);
      const auto take = [&](int lane, T value) {
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
      };
      int64_t i = first;
      for (; i + kLanes <= last; i += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) take(lane, x[i + lane]);
      }
      for (; i < last; ++i) take(0, x[i]);
      least[part] = *std::min_element(low, low + kLanes);
      greatest[part] = *std::max_element(high, high + kLanes);
    }
  });
  return {*std::min_element(least, least + parts), *std::max_element(greatest, greatest + parts)};
}

// Writes round(data * scale) to output 0, and 0 if the scale is not finite, as for a range of 0.
template <typename To, typename From>
void Scale(const KernelContext& c, float scale) {
  const From* x = c.inputs[0].as<From>();
  if (!std::isfinite(scale)) scale = 0;
  PutAllIntegers<To>(c, [=](int64_t i) { return RoundTo<To>(static_cast<float>(x[i]) * scale); });
}

// Passes on data that is quantized already.
template <typename T>
void Copy(const KernelContext& c) {
  const auto& param = c.param<QuantizeParam>();
  const float steps = QuantizedSteps(c.inputs[0].dtype);
  const float least = c.inputs[0].dtype == DType::kUint8 ? 0 : -steps;
  PutRange(c, param.is_calibrated() ? *param.min_calib_range : least,
           param.is_calibrated() ? *param.max_calib_range : steps);
  Scale<T, T>(c, 1);
}

absl::Status QuantizeCpu(const KernelContext& c) {
  const auto& param = c.param<QuantizeParam>();
  if (c.inputs[0].dtype != DType::kFloat32) {
    DispatchQuantized(c.inputs[0].dtype,
                      [&](auto type) { Copy<typename decltype(type)::type>(c); });
    return absl::OkStatus();
  }
  auto [min, max] = param.is_calibrated()
                        ? std::pair(*param.min_calib_range, *param.max_calib_range)
                        : LeastAndGreatest(c.inputs[0].as<float>(), c.inputs[0].size());
  const float magnitude = RangeMagnitude(min, max);
  const float scale = QuantizedSteps(c.outputs[0].dtype) / magnitude;
  if (param.is_unsigned()) {
    PutRange(c, min, max);
    Scale<uint8_t, float>(c, scale);
  } else {
    PutRange(c, -magnitude, magnitude);
    Scale<int8_t, float>(c, scale);
  }
  return absl::OkStatus();
}

absl::Status QuantizeToRangeCpu(const KernelContext& c) {
  const float min = *c.inputs[QuantizedArrays::kMin].as<float>();
  const float max = *c.inputs[QuantizedArrays::kMax].as<float>();
  const float magnitude = RangeMagnitude(min, max);
  if (c.outputs[0].dtype == DType::kUint8) {
    PutRange(c, min, max);
    Scale<uint8_t, float>(c, 255.0F / magnitude);
  } else {
    PutRange(c, -magnitude, magnitude);
    Scale<int8_t, float>(c, 127.0F / magnitude);
  }
  return absl::OkStatus();
}

absl::Status QuantizeAsymmetricCpu(const KernelContext& c) {
  const auto& param = c.param<CalibrationParam>();
  const float* x = c.inputs[0].as<float>();
  const auto [min, max] = param.is_calibrated()
                              ? std::pair(*param.min_calib_range, *param.max_calib_range)
                              : LeastAndGreatest(x, c.inputs[0].size());
  // A range of one number has no finite scale.
  const float scale = max > min ? 255.0F / (max - min) : 0;
  const float shift = 255.0F - max * scale;
  PutRange(c, scale, shift);  // outputs 1 and 2
  PutAllIntegers<uint8_t>(c, [=](int64_t i) { return RoundTo<uint8_t>(x[i] * scale + shift); });
  return absl::OkStatus();
}

absl::Status RequantizeCpu(const KernelContext& c) {
  const auto& param = c.param<QuantizeParam>();
  const float step = InputMagnitude(c, QuantizedArrays::kMin) / QuantizedSteps(DType::kInt32);
  float magnitude = 0;
  if (param.is_calibrated()) {
    magnitude = RangeMagnitude(*param.min_calib_range, *param.max_calib_range);
  } else {
    const auto [min, max] = LeastAndGreatest(c.inputs[0].as<int32_t>(), c.inputs[0].size());
    magnitude = RangeMagnitude(static_cast<float>(min), static_cast<float>(max)) * step;
  }
  if (param.is_unsigned()) {
    PutRange(c, 0, magnitude);
    Scale<uint8_t, int32_t>(c, step * (255.0F / magnitude));
  } else {
    PutRange(c, -magnitude, magnitude);
    Scale<int8_t, int32_t>(c, step * (127.0F / magnitude));
  }
  return absl::OkStatus();
}

template <typename T>
void Dequantize(const KernelContext& c) {
  const float scale = InputMagnitude(c, QuantizedArrays::kMin) / QuantizedSteps(c.inputs[0].dtype);
  const T* x = c.inputs[0].as<T>();
  float* y = c.outputs[0].as<float>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(c.outputs[0].size(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float value = static_cast<float>(x[i]) * scale;
      y[i] = add ? y[i] + value : value;
    }
  });
}

absl::Status DequantizeCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  DispatchQuantized(c.inputs[0].dtype,
                    [&](auto type) { Dequantize<typename decltype(type)::type>(c); });
  return absl::OkStatus();
}

// Refuses integers that are not of the type of the output.
absl::StatusOr<Prepared> PrepareQuantize(const PrepareContext& c) {
  const DType from = c.inputs[0].dtype, to = c.outputs[0].dtype;
  if (from == DType::kFloat32 || from == to) return Prepared{};
  return absl::InvalidArgumentError(absl::StrCat("input 'data' is ", DTypeName(from),
                                                 ", expected float32 or the dtype of the output, ",
                                                 DTypeName(to)));
}

absl::StatusOr<Prepared> PrepareDequantize(const PrepareContext& c) {
  const DType from = c.inputs[0].dtype;
  if (from != DType::kFloat32) return Prepared{};
  return absl::InvalidArgumentError("input 'data' is float32, expected int8 or uint8");
}

COOPER_REGISTER_KERNEL(_contrib_quantize_v2, DeviceType::kCpu,
                       (DTypeSet{DType::kFloat32, DType::kInt8, DType::kUint8}), QuantizeCpu,
                       PrepareQuantize);
COOPER_REGISTER_KERNEL(_contrib_quantize, DeviceType::kCpu,
                       (DTypeSet{DType::kFloat32, DType::kInt8, DType::kUint8}),
                       QuantizeToRangeCpu);
COOPER_REGISTER_KERNEL(_contrib_quantize_asym, DeviceType::kCpu,
                       (DTypeSet{DType::kFloat32, DType::kUint8}), QuantizeAsymmetricCpu);
COOPER_REGISTER_KERNEL(_contrib_requantize, DeviceType::kCpu,
                       (DTypeSet{DType::kInt32, DType::kInt8, DType::kUint8}), RequantizeCpu);
COOPER_REGISTER_KERNEL(_contrib_dequantize, DeviceType::kCpu,
                       (DTypeSet{DType::kFloat32, DType::kInt8, DType::kUint8}), DequantizeCpu,
                       PrepareDequantize);

}  // namespace
}  // namespace cooper
