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

  float At(int64_t i) const { return static_cast<float>(data[i]) * scale; }
};

// Computes the sum of two terms of one type.
template <typename T, typename A>
void Add(const KernelContext& c, const Term<A>& a, const Term<A>& b) {
  PutAllIntegers<T>(c, [=](int64_t i) { return RoundTo<T>(a.At(i) + b.At(i)); });
}

// Computes the sum of two terms of different types. As in MXNet, the unsigned one is rounded to
// int8 before it is added.
template <typename T>
void Add(const KernelContext& c, const Term<uint8_t>& a, const Term<int8_t>& b) {
  PutAllIntegers<T>(c, [=](int64_t i) {
    return RoundTo<T>(static_cast<float>(RoundTo<int8_t>(a.At(i))) + b.At(i));
  });
}

absl::Status QuantizedSumCpu(const KernelContext& c) {
  const auto& param = c.param<CalibrationParam>();
  const float lhs = InputMagnitude(c, kLhsMin), rhs = InputMagnitude(c, kRhsMin);
  float min = -(lhs + rhs), max = lhs + rhs;
  if (param.is_calibrated()) {
    min = *param.min_calib_range;
    max = *param.max_calib_range;
  }
  PutRange(c, min, max);
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const DType dtypes[] = {c.inputs[kLhs].dtype, c.inputs[kRhs].dtype};
  // The order of the operations is MXNet's, since sums halfway between two integers are frequent.
  const auto scale = [&](float magnitude, DType dtype) {
    const float steps = QuantizedSteps(c.outputs[0].dtype);
    if (!param.is_calibrated()) return magnitude * steps / (max * QuantizedSteps(dtype));
    return steps / RangeMagnitude(min, max) / (QuantizedSteps(dtype) / magnitude);
  };
  const auto term = [&]<typename T>(int input, TypeTag<T>) {
    return Term<T>{c.inputs[input].as<T>(), scale(input == kLhs ? lhs : rhs, dtypes[input])};
  };
  // The order of two terms does not matter, so that the unsigned one may come first.
  const bool lhs_signed = dtypes[0] == DType::kInt8, rhs_signed = dtypes[1] == DType::kInt8;
  const int first = lhs_signed && !rhs_signed ? kRhs : kLhs, second = kLhs + kRhs - first;
  constexpr TypeTag<int8_t> kSigned;
  constexpr TypeTag<uint8_t> kUnsigned;
  DispatchQuantized(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if (lhs_signed != rhs_signed) {
      Add<T>(c, term(first, kUnsigned), term(second, kSigned));
    } else if (lhs_signed) {
      Add<T>(c, term(first, kSigned), term(second, kSigned));
    } else {
      Add<T>(c, term(first, kUnsigned), term(second, kUnsigned));
    }
  });
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
