// Kernel of _contrib_quantized_batch_norm.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

using enum QuantizedBatchNormArrays::Input;

int AxisOf(const BatchNormParam& param, const Shape& data) {
  return static_cast<int>(param.axis < 0 ? param.axis + data.rank() : param.axis);
}

template <typename T>
void Run(const KernelContext& c, float out_magnitude) {
  const Shape& shape = c.inputs[kData].shape;
  const int axis = AxisOf(c.param<BatchNormParam>(), shape);
  const int64_t channels = shape[axis], inner = shape.Product(axis + 1, shape.rank());
  const float data_magnitude = InputMagnitude(c, kMinData), steps = QuantizedSteps(DType::kInt8);
  const auto eps = static_cast<float>(c.param<BatchNormParam>().eps);
  const auto array = [&](int input) { return c.inputs[input].as<float>(); };
  const float *gamma = array(kGamma), *beta = array(kBeta);
  const float *mean = array(kMovingMean), *var = array(kMovingVar);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  // MXNet rescales data to a variance of 1, to which oneDNN adds eps again.
  const float unit_deviation = std::sqrt(1 + eps);
  // MXNet rounds uint8 data to int8 first.
  constexpr float kToInt8 = 127.5F / 255.5F;
  ParallelFor(shape.Product(0, axis + 1), RowGrain(inner), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t k = row % channels;
      const float scaled = gamma[k] / std::sqrt(var[k] + eps);
      const float factor = scaled * data_magnitude / out_magnitude / unit_deviation;
      const float term = (beta[k] - mean[k] * scaled) * steps / out_magnitude;
      const T* const x = c.inputs[kData].as<T>() + row * inner;
      PutIntegers(c.outputs[0].as<int8_t>() + row * inner, 0, inner, add, [=](int64_t i) {
        float value = static_cast<float>(x[i]);
        if constexpr (std::is_unsigned_v<T>) {
          value = static_cast<float>(RoundTo<int8_t>(value * kToInt8));
        }
        return RoundTo<int8_t>(value * factor + term);
      });
    }
  });
}

absl::Status QuantizedBatchNormCpu(const KernelContext& c) {
  const auto& param = c.param<BatchNormParam>();
  const auto min = static_cast<float>(*param.min_calib_range);
  const auto max = static_cast<float>(*param.max_calib_range);
  PutRange(c, min, max);
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (c.inputs[kData].dtype == DType::kInt8) {
    Run<int8_t>(c, RangeMagnitude(min, max));
  } else {
    Run<uint8_t>(c, RangeMagnitude(min, max));
  }
  return absl::OkStatus();
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const auto& param = c.param<BatchNormParam>();
  if (param.min_calib_range.has_value() && param.max_calib_range.has_value()) return Prepared{};
  return absl::InvalidArgumentError(
      "min_calib_range and max_calib_range, the range of the output, have to be given");
}

COOPER_REGISTER_KERNEL(_contrib_quantized_batch_norm, DeviceType::kCpu,
                       (DTypeSet{DType::kInt8, DType::kUint8}), QuantizedBatchNormCpu, Prepare);

}  // namespace
}  // namespace cooper
