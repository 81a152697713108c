#ifndef COOPER_EXECUTOR_KERNELS_QUANTIZED_INT8_END_H_
#define COOPER_EXECUTOR_KERNELS_QUANTIZED_INT8_END_H_

// Turns the sums of int8 layers into their outputs, for the CPU kernels.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/kernels/quantized/quantized_scale.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Returns the integers that stand for 1 in an array of this range and dtype, as MXNet's subgraphs
// of oneDNN count them: int8 and uint8 alone; 2^31 for a range of 0.
inline float StepsPerUnit(DType dtype, float magnitude) {
  return magnitude == 0 ? QuantizedSteps(DType::kInt32) : QuantizedSteps(dtype) / magnitude;
}

// The end of a layer: output = round(min(act(sum * factor + term + addend * addend_factor),
// limit)), where act(x) is x, or `negative` * x below 0. float32 outputs are not rounded, and keep
// NaN. Sums of int32 are exact in double, in which int32 outputs are computed.
template <typename T>
struct Int8End {
  using Number = std::conditional_t<std::is_same_v<T, int32_t>, double, float>;

  Number negative = 1;
  Number limit = std::numeric_limits<Number>::infinity();
  Number addend_factor = 0;

  T At(int32_t sum, Number factor, Number term, Number addend) const {
    Number value = static_cast<Number>(sum) * factor + term + addend * addend_factor;
    value = value < 0 ? value * negative : value;
    value = value > limit ? limit : value;
    if constexpr (std::is_same_v<T, float>) {
      return value;
    } else if constexpr (std::is_same_v<T, int32_t>) {
      return IntegerOf<int32_t>(std::nearbyint(value));
    } else {
      return RoundTo<T>(value);
    }
  }
};

// Stores a number, or adds it.
template <typename T>
void PutNumber(T* to, T value, bool add) {
  if constexpr (std::is_same_v<T, float>) {
    *to = add ? *to + value : value;
  } else {
    PutInteger(to, value, add);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_QUANTIZED_INT8_END_H_
