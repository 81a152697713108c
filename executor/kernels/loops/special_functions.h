#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_SPECIAL_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_SPECIAL_FUNCTIONS_H_

// Functions that the C library lacks or does not implement thread-safely, for unary_functions.h.
// They branch and call, so loops over them are not vectorised; vector_math.h and its neighbours
// have those that are. Host and device; thread-safe.

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns the logarithm of the magnitude of the gamma function, for float or double. std::lgamma
// also writes the sign to a global variable, which is a data race between threads; the reentrant
// functions of glibc do not. Infinite at 0, -1, -2, ...
template <typename T>
COOPER_HOST_DEVICE T LogGamma(T x) {
#ifdef __CUDA_ARCH__
  return std::lgamma(x);
#else
  int sign = 0;
  if constexpr (std::is_same_v<T, float>) return lgammaf_r(x, &sign);
  return lgamma_r(x, &sign);
#endif
}

// Returns the logarithmic derivative of the gamma function; infinite at 0, NaN at -1, -2, ... and
// at -infinity. The recurrence moves x to at least 10, where the asymptotic series (Abramowitz and
// Stegun 6.3.18) with six terms has an error below 1e-15. The result has an error of about 1e-14
// for x > 0 (special_functions_test.cc); for x < 0 the reflection loses digits near the poles.
COOPER_HOST_DEVICE inline double Digamma(double x) {
  if (x == 0) return -std::copysign(std::numeric_limits<double>::infinity(), x);
  double value = 0;
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    // Reflection: psi(x) = psi(1 - x) - pi / tan(pi x).
    value = -std::numbers::pi / std::tan(std::numbers::pi * x);
    x = 1 - x;
  }
  // psi(x) = psi(x + 1) - 1 / x until the asymptotic series converges.
  for (; x < 10; ++x) value -= 1 / x;
  // log(x) - 1 / (2x) - sum of B_2k / (2k x^2k).
  const double u = 1 / (x * x);
  constexpr double kCoefficients[] = {691. / 32760, 1. / 132, 1. / 240,
                                      1. / 252,     1. / 120, 1. / 12};
  double series = 0;
  for (double coefficient : kCoefficients) series = u * (coefficient - series);
  return value + std::log(x) - 0.5 / x - series;
}

// Returns the inverse of std::erf: NaN outside [-1, 1], infinite at the ends. The error is at most
// 1e-14 (special_functions_test.cc) beyond the effect of a rounding error of y, which is large near
// the ends, where erf is flat.
COOPER_HOST_DEVICE inline double ErfInv(double y) {
  if (!(y >= -1 && y <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 1 || y == -1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  // Winitzki's formula gives a first approximation with an error of 2e-3. Each of Halley's steps on
  // erf(x) - y then triples the number of correct digits. Near the ends 1 - |y| is exact and erfc
  // does not cancel.
  const double magnitude = std::fabs(y);
  const double complement = 1 - magnitude;
  constexpr double kA = 0.147;
  const double l = std::log(complement * (1 + magnitude));
  const double t = 2 / (std::numbers::pi * kA) + l / 2;
  double x = std::sqrt(std::sqrt(t * t - l / kA) - t);
  for (int step = 0; step < 3; ++step) {
    const double error = magnitude < 0.5 ? std::erf(x) - magnitude : complement - std::erfc(x);
    const double newton = error / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return std::copysign(x, y);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_SPECIAL_FUNCTIONS_H_
