// Kernel of _contrib_quantized_elemwise_add.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

using enum QuantizedPairArrays::Input;

// One term of the sum: steps of the output for a step of the input.
template <typename T>
struct Term {
  const T* data;
  float scale;
  // Whether the scaled term is rounded to int8 before it is added, as MXNet does with the unsigned
  // one of two terms of different types.
  bool rounds;

  float At(int64_t i) const {
    const float value = static_cast<float>(data[i]) * scale;
    return rounds ? static_cast<float>(RoundTo<int8_t>(value)) : value;
  }
};

template <typename T, typename A, typename B>
void Add(const KernelContext& c, const Term<A>& a, const Term<B>& b) {
  PutAllIntegers<T>(c, [=](int64_t i) { return RoundTo<T>(a.At(i) + b.At(i)); });
}

template <typename A, typename B>
void Run(const KernelContext& c) {
  const auto& param = c.param<CalibrationParam>();
  const float lhs = InputMagnitude(c, kLhsMin), rhs = InputMagnitude(c, kRhsMin);
  float min = -(lhs + rhs), max = lhs + rhs;
  if (param.is_calibrated()) {
    min = *param.min_calib_range;
    max = *param.max_calib_range;
  }
  PutRange(c, min, max);
  if (c.reqs[0] == WriteReq::kNull) return;
  const DType dtypes[] = {c.inputs[kLhs].dtype, c.inputs[kRhs].dtype};
  // The order of the operations is MXNet's, since sums halfway between two integers are frequent.
  const auto scale = [&](float magnitude, DType dtype) {
    const float steps = QuantizedSteps(c.outputs[0].dtype);
    if (!param.is_calibrated()) return magnitude * steps / (max * QuantizedSteps(dtype));
    return steps / RangeMagnitude(min, max) / (QuantizedSteps(dtype) / magnitude);
  };
  const bool mixed = dtypes[0] != dtypes[1];
  const Term<A> a = {c.inputs[kLhs].as<A>(), scale(lhs, dtypes[0]),
                     mixed && dtypes[0] == DType::kUint8};
  const Term<B> b = {c.inputs[kRhs].as<B>(), scale(rhs, dtypes[1]),
                     mixed && dtypes[1] == DType::kUint8};
  DispatchQuantized(c.outputs[0].dtype,
                    [&](auto type) { Add<typename decltype(type)::type>(c, a, b); });
}

absl::Status QuantizedSumCpu(const KernelContext& c) {
  const bool lhs_signed = c.inputs[kLhs].dtype == DType::kInt8;
  const bool rhs_signed = c.inputs[kRhs].dtype == DType::kInt8;
  if (lhs_signed) {
    rhs_signed ? Run<int8_t, int8_t>(c) : Run<int8_t, uint8_t>(c);
  } else {
    rhs_signed ? Run<uint8_t, int8_t>(c) : Run<uint8_t, uint8_t>(c);
  }
  return absl::OkStatus();
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  for (const int input : {kLhs, kRhs}) {
    const DType dtype = c.inputs[input].dtype;
    if (dtype == DType::kInt8 || dtype == DType::kUint8) continue;
    return absl::InvalidArgumentError(absl::StrCat("input '", input == kLhs ? "lhs" : "rhs",
                                                   "' is ", DTypeName(dtype),
                                                   ", expected int8 or uint8"));
  }
  return Prepared{};
}

COOPER_REGISTER_KERNEL(_contrib_quantized_elemwise_add, DeviceType::kCpu,
                       (DTypeSet{DType::kInt8, DType::kUint8, DType::kInt32}), QuantizedSumCpu,
                       Prepare);

}  // namespace
}  // namespace cooper
