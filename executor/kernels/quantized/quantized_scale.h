#ifndef COOPER_EXECUTOR_KERNELS_QUANTIZED_QUANTIZED_SCALE_H_
#define COOPER_EXECUTOR_KERNELS_QUANTIZED_QUANTIZED_SCALE_H_

// The arithmetic of quantized arrays, for the CPU kernels. It is that of MXNet 1.9.1 with oneDNN,
// in float: numbers are rounded to the nearest integer, ties to even, and limited to the type.
// quantize_param.h (symbol/ops/nn) explains ranges.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {

// The integers that stand for the greatest number of a range. MXNet counts half a step more where
// it quantizes and dequantizes than where it requantizes (127 and 255).
inline float QuantizedSteps(DType dtype) {
  return dtype == DType::kInt8 ? 127.5F : dtype == DType::kUint8 ? 255.5F : 2147483648.0F;
}

// Returns the greater magnitude of a range.
inline float RangeMagnitude(float min, float max) { return std::max(std::abs(min), std::abs(max)); }

// Returns the magnitude of the range of input `at`; input at + 1 is its maximum.
inline float InputMagnitude(const KernelContext& c, int at) {
  return RangeMagnitude(*c.inputs[at].as<float>(), *c.inputs[at + 1].as<float>());
}

// Returns the nearest integer of type T, int8_t, uint8_t or int32_t. NaN becomes the least one.
template <typename T>
T RoundTo(float value) {
  if constexpr (std::is_same_v<T, int32_t>) return IntegerOf<int32_t>(std::nearbyint(value));
  constexpr auto kLeast = static_cast<float>(std::numeric_limits<T>::min());
  constexpr auto kGreatest = static_cast<float>(std::numeric_limits<T>::max());
  const float limited = value >= kLeast ? std::min(value, kGreatest) : kLeast;
  // The lowest bits of a sum with 1.5 * 2^23 are those of the nearest integer. Unlike a call of
  // nearbyint, this becomes a vector instruction on any processor.
  constexpr float kShift = 12582912.0F;
  return static_cast<T>(std::bit_cast<int32_t>(limited + kShift) - std::bit_cast<int32_t>(kShift));
}

// Stores `value`, or adds it to an 8-bit or 32-bit integer, which may wrap around.
template <typename T>
void PutInteger(T* to, T value, bool add) {
  *to = add ? static_cast<T>(static_cast<uint32_t>(*to) + static_cast<uint32_t>(value)) : value;
}

// Computes out[i] = or, with `add`, += value(i) for i in [begin, end). Stores of bytes may change
// anything as far as a compiler knows, so `value` is a copy: it should capture by value.
template <typename T, typename Fn>
void PutIntegers(T* out, int64_t begin, int64_t end, bool add, const Fn value) {
  if (add) {
    for (int64_t i = begin; i < end; ++i) PutInteger(out + i, value(i), true);
  } else {
    for (int64_t i = begin; i < end; ++i) out[i] = value(i);
  }
}

// Computes the elements of output 0, of type T, as value(i), on several threads.
template <typename T, typename Fn>
void PutAllIntegers(const KernelContext& c, const Fn& value) {
  if (c.reqs[0] == WriteReq::kNull) return;
  constexpr int64_t kGrain = 16384;
  ParallelFor(c.outputs[0].size(), kGrain, [&](int64_t begin, int64_t end) {
    PutIntegers(c.outputs[0].as<T>(), begin, end, c.reqs[0] == WriteReq::kAdd, value);
  });
}

// Writes the range of output 0.
inline void PutRange(const KernelContext& c, float min, float max) {
  const float values[] = {min, max};
  for (int i = 0; i < 2; ++i) {
    const int output = QuantizedOutputs::kMin + i;
    if (c.reqs[output] == WriteReq::kNull) continue;
    float* to = c.outputs[output].as<float>();
    *to = c.reqs[output] == WriteReq::kAdd ? *to + values[i] : values[i];
  }
}

// Writes the range of a product: steps of data and weight have `data_steps` and `weight_steps`
// integers for the greatest number. `ranges` is the first input that is a range.
inline void PutProductRange(const KernelContext& c, int ranges, float data_steps,
                            float weight_steps) {
  const float step =
      InputMagnitude(c, ranges) / data_steps * (InputMagnitude(c, ranges + 2) / weight_steps);
  const float magnitude = step * QuantizedSteps(DType::kInt32);
  PutRange(c, -magnitude, magnitude);
}

// Calls fn(TypeTag<T>()) for int8, uint8 or int32; other dtypes are those of int32.
template <typename Fn>
void DispatchQuantized(DType dtype, const Fn& fn) {
  if (dtype == DType::kInt8) {
    fn(TypeTag<int8_t>());
  } else if (dtype == DType::kUint8) {
    fn(TypeTag<uint8_t>());
  } else {
    fn(TypeTag<int32_t>());
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_QUANTIZED_QUANTIZED_SCALE_H_
