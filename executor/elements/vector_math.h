#ifndef COOPER_EXECUTOR_ELEMENTS_VECTOR_MATH_H_
#define COOPER_EXECUTOR_ELEMENTS_VECTOR_MATH_H_

// exp, tanh and sigmoid of float without branches or calls, so that a loop over them is compiled to
// vector instructions; the C library's are calls, several times slower. Relative errors stay below
// 2e-7 for exp and tanh, 4e-7 for sigmoid where it is above 1e-38, below which it is 0
// (vector_math_test.cc). NaN stays NaN. The overloads for double are the C library's.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ndarray/host_device.h"

namespace cooper {

// What lies beyond a function's bounds is computed as anything else, to no avail, and replaced at
// the end: an argument that is clamped before makes compilers take the bound's constants through
// all of the polynomial, as a second path that is blended with the first at each step.

// x = n ln 2 + r with n = round(x / ln 2), |r| <= ln(2) / 2, of a moderate x.
struct VectorExpParts {
  int32_t n;
  float expm1;  // exp(r) - 1
};
COOPER_HOST_DEVICE inline VectorExpParts SplitVectorExp(float x) {
  // Adding 1.5 * 2^23 rounds to an integer, which then is the sum's low bits.
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float m = shifted - 12582912.0f;
  // ln 2 in two parts: m * 0.693359375 is exact.
  const float r = (x - m * 0.693359375f) + m * 2.12194440e-4f;
  // exp(r) = 1 + r + r^2 q(r), q by a weighted minimax fit; in an order (Estrin's) in which few
  // operations wait for each other.
  const float r2 = r * r;
  const float low = 0.16666518f * r + 0.5f;
  const float high = 0.0013950488f * r2 + (0.0083688879f * r + 0.041666206f);
  const float q = high * r2 + low;
  // Unsigned, since x may be anything: 0x4b400000 are the bits of 1.5 * 2^23.
  return {static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - 0x4b400000u), q * r2 + r};
}

// 2^n, if that is a normal number; unsigned, since n may be anything.
COOPER_HOST_DEVICE inline float VectorExp2(int32_t n) {
  return std::bit_cast<float>((static_cast<uint32_t>(n) + 127u) << 23);
}

// exp(x) = 2^n exp(r). Overflows to infinity, and is 0 or subnormal where exp is.
COOPER_HOST_DEVICE inline float VectorExp(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  // 2^n in two factors, since n may be beyond the exponents of normal numbers.
  const int32_t half = n >> 1;
  float y = (expm1 + 1.0f) * VectorExp2(half) * VectorExp2(n - half);
  y = x < -105.0f ? 0.0f : y;
  return x > 90.0f ? std::numeric_limits<float>::infinity() : y;
}

// tanh(|x|) = e / (e + 2) with e = exp(2|x|) - 1, which does not cancel near 0.
COOPER_HOST_DEVICE inline float VectorTanh(float x) {
  const float magnitude = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(magnitude + magnitude);
  const float scale = VectorExp2(n);
  const float e = expm1 * scale + (scale - 1.0f);
  const float y = magnitude > 10.0f ? 1.0f : e / (e + 2.0f);
  return std::copysign(y, x);  // tanh(-0) is -0
}

// exp(x) of x <= 0; 0 below -87.3, a little above where it becomes subnormal.
COOPER_HOST_DEVICE inline float VectorExpOfNonPositive(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const float y = (expm1 + 1.0f) * VectorExp2(n);
  return x < -87.3f ? 0.0f : y;
}

// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|), which does not overflow.
COOPER_HOST_DEVICE inline float VectorSigmoid(float x) {
  const float e = VectorExpOfNonPositive(-std::fabs(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// exp(x) - 1 of x <= 0, without cancelling near 0.
COOPER_HOST_DEVICE inline float VectorExpm1OfNonPositive(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const float scale = VectorExp2(n);
  const float y = expm1 * scale + (scale - 1.0f);
  return x < -87.0f ? -1.0f : y;
}

COOPER_HOST_DEVICE inline double VectorExpm1OfNonPositive(double x) { return std::expm1(x); }
COOPER_HOST_DEVICE inline double VectorExp(double x) { return std::exp(x); }
COOPER_HOST_DEVICE inline double VectorTanh(double x) { return std::tanh(x); }
COOPER_HOST_DEVICE inline double VectorSigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_ELEMENTS_VECTOR_MATH_H_
