// Kernel of _contrib_quantized_elemwise_mul. Products are rounded towards 0, as in MXNet, and
// limited to the type.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

using enum QuantizedPairArrays::Input;

absl::Status QuantizedProductCpu(const KernelContext& c) {
  const auto& param = c.param<QuantizedProductParam>();
  const float lhs = InputMagnitude(c, kLhsMin), rhs = InputMagnitude(c, kRhsMin);
  const float steps = QuantizedSteps(DType::kInt8);
  const int8_t *a = c.inputs[kLhs].as<int8_t>(), *b = c.inputs[kRhs].as<int8_t>();
  const auto product = [=](int64_t i) { return int32_t{a[i]} * int32_t{b[i]}; };
  if (param.enable_float_output) {
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    const float scale = lhs / steps * (rhs / steps);
    float* out = c.outputs[0].as<float>();
    const bool add = c.reqs[0] == WriteReq::kAdd;
    ParallelFor(c.outputs[0].size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<float>(product(i)) * scale + (add ? out[i] : 0);
      }
    });
  } else if (param.is_calibrated()) {
    const float min = *param.min_calib_range, max = *param.max_calib_range;
    PutRange(c, min, max);
    float scale = steps / RangeMagnitude(min, max) / (steps / lhs) / (steps / rhs);
    if (!std::isfinite(scale)) scale = 0;  // a range of 0
    PutAllIntegers<int8_t>(c, [=](int64_t i) {
      const float value = static_cast<float>(product(i)) * scale;
      return static_cast<int8_t>(std::clamp(value, -128.0F, 127.0F));
    });
  } else {
    PutProductRange(c, kLhsMin, 127, 127);
    PutAllIntegers<int32_t>(c, product);
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_quantized_elemwise_mul, DeviceType::kCpu,
                       (DTypeSet{DType::kInt8, DType::kInt32, DType::kFloat32}),
                       QuantizedProductCpu);

}  // namespace
}  // namespace cooper
