#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_MATH_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_MATH_H_

// Functions that device code uses without a namespace but C++ does not declare there.

#include <cmath>
#include <concepts>

using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;

template <std::integral T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <std::integral T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_MATH_H_
