#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_MATH_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_MATH_H_

// exp, expm1, tanh and sigmoid without branches or calls, so that loops over them are vectorised;
// the C library's functions are calls, several times slower. vector_log.h, vector_erf.h,
// vector_hyperbolic.h and vector_trig.h have more such functions. They serve activations, softmax,
// losses, recurrent cells and the functions of unary_functions.h, on both devices.
//
// Errors are at most 3 units in the last place for float and double (vector_math_test.cc has the
// bound of each). Sigmoid returns 0 where its result would be subnormal. NaN gives NaN. Results at
// infinities, and the signs of zeros, are those of the C library. They assume rounding to nearest
// and no -ffast-math. Levels with FMA differ from others in the last bits.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ndarray/base/host_device.h"

namespace cooper {

// Arguments beyond a function's bounds are computed like others, and their results are replaced at
// the end. If arguments were clamped first, compilers would evaluate the polynomial for the bounds
// too, as a second path that is blended with the first at each step.

// The parts of x = n ln 2 + r with n = round(x / ln 2) and |r| <= ln(2) / 2, for x of moderate
// size.
struct VectorExpParts {
  int32_t n;
  float expm1;  // exp(r) - 1
};
// Splits x and computes exp(r) - 1. Beyond the range of exp the parts need not be accurate: callers
// replace their results.
COOPER_HOST_DEVICE inline VectorExpParts SplitVectorExp(float x) {
  // Adding 1.5 * 2^23 rounds to an integer, which becomes the low bits of the sum.
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float m = shifted - 12582912.0f;
  // ln 2 in two parts: m * 0.693359375 is exact.
  const float r = (x - m * 0.693359375f) + m * 2.12194440e-4f;
  // exp(r) = 1 + r + r^2 q(r), with a weighted minimax fit for q, evaluated in Estrin's order, in
  // which few operations depend on each other.
  const float r2 = r * r;
  const float low = 0.16666518f * r + 0.5f;
  const float high = 0.0013950488f * r2 + (0.0083688879f * r + 0.041666206f);
  const float q = high * r2 + low;
  // Unsigned arithmetic, because x may be any float: 0x4b400000 are the bits of 1.5 * 2^23.
  return {static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - 0x4b400000u), q * r2 + r};
}

// Returns 2^n if that is a normal number, so for n in [-126, 127]. Other n give meaningless values.
// Unsigned arithmetic, because n may be any integer.
COOPER_HOST_DEVICE inline float VectorExp2(int32_t n) {
  return std::bit_cast<float>((static_cast<uint32_t>(n) + 127u) << 23);
}

// Returns exp(x) = 2^n exp(r). Overflows to infinity; small results are subnormal or 0, as those of
// exp.
COOPER_HOST_DEVICE inline float VectorExp(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  // 2^n as two factors, because n may be beyond the exponents of normal numbers.
  const int32_t half = n >> 1;
  float y = (expm1 + 1.0f) * VectorExp2(half) * VectorExp2(n - half);
  y = x < -105.0f ? 0.0f : y;
  return x > 90.0f ? std::numeric_limits<float>::infinity() : y;
}

// Returns tanh(x), from tanh(|x|) = e / (e + 2) with e = exp(2|x|) - 1, which does not cancel near
// 0. The result is 1 or -1 beyond 10.
COOPER_HOST_DEVICE inline float VectorTanh(float x) {
  const float magnitude = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(magnitude + magnitude);
  const float scale = VectorExp2(n);
  const float e = expm1 * scale + (scale - 1.0f);
  const float y = magnitude > 10.0f ? 1.0f : e / (e + 2.0f);
  return std::copysign(y, x);  // tanh(-0) is -0
}

// Returns exp(x) for x <= 0; 0 below -87.3, a little above where the result becomes subnormal.
// Cheaper than VectorExp: one scaling instead of two. Softmax subtracts the maximum and calls it.
COOPER_HOST_DEVICE inline float VectorExpOfNonPositive(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const float y = (expm1 + 1.0f) * VectorExp2(n);
  return x < -87.3f ? 0.0f : y;
}

// Returns 1 / (1 + exp(-x)), as 1 / (1 + e) or e / (1 + e) with e = exp(-|x|), which does not
// overflow.
COOPER_HOST_DEVICE inline float VectorSigmoid(float x) {
  const float e = VectorExpOfNonPositive(-std::fabs(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// Returns exp(x) - 1 for x <= 0, without cancellation near 0. LeakyReLU and the gradient of
// softrelu call it.
COOPER_HOST_DEVICE inline float VectorExpm1OfNonPositive(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const float scale = VectorExp2(n);
  const float y = expm1 * scale + (scale - 1.0f);
  return x < -87.0f ? -1.0f : y;
}

// Returns exp(x) - 1 without cancellation near 0. It scales by 2^(n - 1) and doubles the result,
// because 2^n may overflow where the result does not.
COOPER_HOST_DEVICE inline float VectorExpm1(float x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const float half_scale = VectorExp2(n - 1);
  float y = 2.0f * (expm1 * half_scale + (half_scale - 0.5f));
  y = x < -40.0f ? -1.0f : y;
  y = x > 90.0f ? std::numeric_limits<float>::infinity() : y;
  return x == 0.0f ? x : y;  // expm1(-0) is -0
}

// The functions above in double precision. The formulas are those in float; bounds and polynomials
// differ.

// The parts of x = n ln 2 + r, as VectorExpParts.
struct VectorExpParts64 {
  int64_t n;
  double expm1;  // exp(r) - 1
};
COOPER_HOST_DEVICE inline VectorExpParts64 SplitVectorExp(double x) {
  // Adding 1.5 * 2^52 rounds to an integer; 0x4338000000000000 are its bits.
  const double shifted = x * 1.4426950408889634 + 6755399441055744.0;
  const double m = shifted - 6755399441055744.0;
  // The first part of ln 2 has 33 bits, so its product with m is exact.
  const double r = (x - m * 0.693147180369123816490) - m * 1.90821492927058770002e-10;
  const double r2 = r * r, r4 = r2 * r2;
  const double q01 = 0.16666666666666412518 * r + 0.50000000000000106271;
  const double q23 = 0.0083333333334944648684 * r + 0.041666666666530158381;
  const double q45 = 0.00019841269506571266786 * r + 0.0013888888943630187587;
  const double q67 = 2.7557586380836498406e-6 * r + 0.000024801493098816137076;
  const double q89 = 2.5000059288358357622e-8 * r + 2.7630248414084709932e-7;
  const double q = ((q89 * r4 + (q67 * r2 + q45)) * r4) + (q23 * r2 + q01);
  return {static_cast<int64_t>(std::bit_cast<uint64_t>(shifted) - 0x4338000000000000u), q * r2 + r};
}

// Returns 2^n for n in [-1022, 1023].
COOPER_HOST_DEVICE inline double VectorExp2(int64_t n) {
  return std::bit_cast<double>((static_cast<uint64_t>(n) + 1023u) << 52);
}

// Returns exp(x); infinity above 709.8, subnormal below -708.4 and 0 below -745.2.
COOPER_HOST_DEVICE inline double VectorExp(double x) {
  const auto [n, expm1] = SplitVectorExp(x);
  // n / 2 by an unsigned shift, which vector instructions support.
  const int64_t half =
      static_cast<int64_t>((static_cast<uint64_t>(n) + 4096u) >> 1 & 0xffffu) - 2048;
  double y = (expm1 + 1.0) * VectorExp2(half) * VectorExp2(n - half);
  y = x < -746.0 ? 0.0 : y;
  return x > 710.0 ? std::numeric_limits<double>::infinity() : y;
}

// Returns exp(x) for x <= 0; 0 below -708.
COOPER_HOST_DEVICE inline double VectorExpOfNonPositive(double x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const double y = (expm1 + 1.0) * VectorExp2(n);
  return x < -708.0 ? 0.0 : y;
}

// Returns tanh(x); 1 or -1 beyond 20.
COOPER_HOST_DEVICE inline double VectorTanh(double x) {
  const double magnitude = std::fabs(x);
  const auto [n, expm1] = SplitVectorExp(magnitude + magnitude);
  const double scale = VectorExp2(n);
  const double e = expm1 * scale + (scale - 1.0);
  const double y = magnitude > 20.0 ? 1.0 : e / (e + 2.0);
  return std::copysign(y, x);
}

// Returns 1 / (1 + exp(-x)); 0 below -708.
COOPER_HOST_DEVICE inline double VectorSigmoid(double x) {
  const double e = VectorExpOfNonPositive(-std::fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// Returns exp(x) - 1; -1 below -60.
COOPER_HOST_DEVICE inline double VectorExpm1(double x) {
  const auto [n, expm1] = SplitVectorExp(x);
  const double half_scale = VectorExp2(n - 1);
  double y = 2.0 * (expm1 * half_scale + (half_scale - 0.5));
  y = x < -60.0 ? -1.0 : y;
  y = x > 710.0 ? std::numeric_limits<double>::infinity() : y;
  return x == 0.0 ? x : y;
}

// Returns exp(x) - 1 for x <= 0. Unlike in float, it has no shorter form.
COOPER_HOST_DEVICE inline double VectorExpm1OfNonPositive(double x) { return VectorExpm1(x); }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_MATH_H_
