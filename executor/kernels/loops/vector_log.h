#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_LOG_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_LOG_H_

// Logarithms, powers and softrelu without branches or calls (vector_math.h). Errors are at most 2.5
// units in the last place (vector_math_test.cc). As in the C library, log(0) is -infinity and the
// logarithm of a negative number is NaN. C is float or double.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// The parts of x = 2^exponent (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)], for positive finite x.
template <typename C>
struct VectorLogParts {
  C exponent;
  C f;
  C tail;  // log(1 + f) - f
};

// Splits x and computes log(1 + f). For a number that is not positive and finite the parts are
// meaningless; WithLogLimits replaces the result. Subnormal numbers are scaled first.
COOPER_HOST_DEVICE inline VectorLogParts<float> SplitVectorLog(float x) {
  // Subnormal numbers have no implicit leading bit, so they are scaled by 2^23, the bits of a
  // mantissa.
  const bool subnormal = x < 1.17549435e-38f;
  const float scaled = subnormal ? x * 8388608.0f : x;
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  // Subtracting the bits of sqrt(1/2) makes the exponent field that of the interval [sqrt(1/2),
  // sqrt(2)), so the arithmetic shift gives n, also for n < 0.
  const uint32_t above = std::bit_cast<uint32_t>(scaled) - kSqrtHalf;
  const int32_t n = static_cast<int32_t>(above) >> 23;
  const float f = std::bit_cast<float>((above & 0x007fffffu) + kSqrtHalf) - 1.0f;
  // log(1 + f) = f - f^2 / 2 + f^3 s(f), s by a minimax fit.
  const float f2 = f * f;
  const float s01 = -0.25000821f * f + 0.33333332f;
  const float s23 = -0.16623357f * f + 0.20001227f;
  const float s45 = -0.13160182f * f + 0.14201758f;
  const float s67 = -0.076344980f * f + 0.12761577f;
  const float s = (s67 * f2 + s45) * (f2 * f2) + (s23 * f2 + s01);
  return {static_cast<float>(n) - (subnormal ? 23.0f : 0.0f), f, (s * f - 0.5f) * f2};
}

// The parts of x = 2^exponent (1 + f) without the logarithm.
struct VectorSplit64 {
  double exponent, f;
};
// Splits a normal number.
COOPER_HOST_DEVICE inline VectorSplit64 SplitNormal(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;
  const uint64_t above = std::bit_cast<uint64_t>(x) - kSqrtHalf;
  // The exponent plus 1024, as a double: the low bits of 2^52 plus it.
  const uint64_t biased = (above + 0x4000000000000000u) >> 52;
  const double n = std::bit_cast<double>(biased | 0x4330000000000000u) - 4503599627371520.0;
  return {n, std::bit_cast<double>((above & 0x000fffffffffffffu) + kSqrtHalf) - 1.0};
}
COOPER_HOST_DEVICE inline VectorSplit64 SplitExponent(double x) {
  // Scales subnormal numbers by 2^54.
  const bool subnormal = x < 2.2250738585072014e-308;
  const auto [n, f] = SplitNormal(subnormal ? x * 18014398509481984.0 : x);
  return {n - (subnormal ? 54.0 : 0.0), f};
}

// Splits x, and computes log(1 + f), in double. The formula for log(1 + f) is that of fdlibm
// (e_log.c).
COOPER_HOST_DEVICE inline VectorLogParts<double> SplitVectorLog(double x) {
  const auto [n, f] = SplitExponent(x);
  // With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + r(s^2)), with a
  // minimax fit for r.
  const double s = f / (f + 2.0), z = s * s, z2 = z * z;
  const double r01 = 0.40000000000006287067 * z + 0.66666666666666660933;
  const double r23 = 0.22222222648749510393 * z + 0.28571428569072972116;
  const double r45 = 0.15387097649132685959 * z + 0.18181775508581850606;
  const double r67 = 0.13252754683345066499 * z + 0.13249962052179814585;
  const double r = ((r67 * z2 + r45) * (z2 * z2) + (r23 * z2 + r01)) * z;
  const double half = 0.5 * f * f;
  return {n, f, s * (half + r) - half};
}

// Returns `y`, the result for positive finite x, or the result for another x: -infinity for 0,
// infinity for infinity, NaN for negative numbers and NaN.
template <typename C>
COOPER_HOST_DEVICE C WithLogLimits(C x, C y) {
  constexpr C kInf = std::numeric_limits<C>::infinity();
  y = x <= std::numeric_limits<C>::max() ? y : x;  // infinity and NaN
  y = x < 0 ? std::numeric_limits<C>::quiet_NaN() : y;
  return x == 0 ? -kInf : y;
}

// ln 2 and log10(2) in two parts, the first of which is so short that its product with an exponent
// is exact.
template <typename C>
struct LogConstants;
template <>
struct LogConstants<float> {
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kLg2High = 0.30078125f, kLg2Low = 2.4874567e-4f;
};
template <>
struct LogConstants<double> {
  static constexpr double kLn2High = 0.693147180369123816490, kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kLg2High = 0.301029995663611771306, kLg2Low = 3.69423907715893078616e-13;
};

// Returns the natural logarithm.
template <typename C>
COOPER_HOST_DEVICE C VectorLog(C x) {
  const auto [n, f, tail] = SplitVectorLog(x);
  using K = LogConstants<C>;
  return WithLogLimits(x, n * K::kLn2High + (f + (tail + n * K::kLn2Low)));
}

// Returns the logarithm to base 2.
template <typename C>
COOPER_HOST_DEVICE C VectorLog2(C x) {
  const auto [n, f, tail] = SplitVectorLog(x);
  constexpr C kLog2E = static_cast<C>(1.4426950408889634);
  // log2(e) = 1 + 0.44..., so f itself is added without rounding.
  const C rest = (f + tail) * (kLog2E - 1) + tail;
  return WithLogLimits(x, n + (f + rest));
}

// Returns the logarithm to base 10.
template <typename C>
COOPER_HOST_DEVICE C VectorLog10(C x) {
  const auto [n, f, tail] = SplitVectorLog(x);
  using K = LogConstants<C>;
  // log10(x) = n log10(2) + log(1 + f) log10(e); the small terms are added first.
  constexpr C kLog10E = static_cast<C>(0.43429448190325182765);
  return WithLogLimits(x, n * K::kLg2High + ((f + tail) * kLog10E + n * K::kLg2Low));
}

// Returns log(1 + x) = log(u) + (x - (u - 1)) / u, where u is 1 + x rounded: the second term
// restores what the rounding has lost, so small x keep all digits.
template <typename C>
COOPER_HOST_DEVICE C VectorLog1p(C x) {
  const C u = C{1} + x;
  const C lost = x - (u - C{1});
  const auto [n, f, tail] = SplitVectorLog(u);
  using K = LogConstants<C>;
  const C y = n * K::kLn2High + (f + (tail + (n * K::kLn2Low + lost / u)));
  return x == 0 ? x : WithLogLimits(u, y);  // log1p(-0) is -0
}

// Returns log(1 + t) for t in [0, 1], without an exponent to split off. With s = t / (2 + t) it is
// 2 atanh(s) = 2 s + s r(s^2), and 2 s = t - s t, so that t is added without rounding. The fit for
// r has an error below 2^-27 of the result.
COOPER_HOST_DEVICE inline float VectorLog1pOfUnit(float t) {
  const float s = t / (2.0f + t), z = s * s;
  const float high = 0.283694205f * (z * z) + (0.27919602f * z + 0.400275132f);
  return t - s * (t - (high * (z * z) + 0.666662744f * z));
}
COOPER_HOST_DEVICE inline double VectorLog1pOfUnit(double t) { return VectorLog1p(t); }

// Returns log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which does not overflow; 0 where the
// result would be subnormal. Above 20 it is x: equal in float, and in double up to 2e-9 less, as in
// MXNet.
template <typename C>
COOPER_HOST_DEVICE C VectorSoftRelu(C x) {
  const C log = VectorLog1pOfUnit(VectorExpOfNonPositive(-std::fabs(x)));
  const C y = (x > 0 ? x : C{0}) + log;
  return x > 20 ? x : y;
}

// Returns |x|^y, given as `power`, with the sign of x^y and with the results of std::pow for zeros,
// infinities and NaN. A negative x has a power for integers y only.
template <typename C>
COOPER_HOST_DEVICE C WithPowerLimits(C x, C y, C power) {
  constexpr C kInf = std::numeric_limits<C>::infinity();
  // The power is negative for a negative x, or -0, and an odd y. Floats from 2^24 on, and doubles
  // from 2^53 on, are even.
  const C half = y * C{0.5};
  const bool is_integer = std::floor(y) == y;
  const bool is_odd = is_integer && std::floor(half) != half;
  power = std::copysign(power, is_odd ? x : C{1});
  // A finite negative number has no power for a y that is no integer.
  const bool has_none = x < 0 && x > -kInf && !is_integer;
  power = has_none ? std::numeric_limits<C>::quiet_NaN() : power;
  // The cases in which 0 times infinity, or NaN, gives 1.
  const bool is_one = y == 0 || x == 1 || (x == -1 && std::fabs(y) == kInf);
  return is_one ? C{1} : power;
}

// Returns x to the power of y, computed as 2^(y log2 |x|) in double to get all digits of a float,
// with the ranges of a float: a subnormal float is a normal double, and powers scale it once.
COOPER_HOST_DEVICE inline float VectorPow(float x, float y) {
  const double magnitude = std::fabs(x);
  const auto [n, f] = SplitNormal(magnitude);
  // With s = f / (2 + f), log2(1 + f) = 2 atanh(s) / ln 2 = s p(s^2), with a fit for p whose
  // relative error is below 2^-52.
  const double s = f / (f + 2.0), z = s * s, z2 = z * z;
  const double p01 = 0.9617966939243338 * z + 2.885390081777927;
  const double p23 = 0.41219840198694707 * z + 0.577078017246697;
  const double p45 = 0.2614440963637955 * z + 0.32061639267546643;
  const double p = (0.24291799576603937 * z2 + p45) * (z2 * z2) + (p23 * z2 + p01);
  const double log = n + s * p;
  double power = y * WithLogLimits(magnitude, log);
  // Larger powers overflow as well. A NaN stays: it compares with nothing.
  power = power > 1000.0 ? 1000.0 : power;
  power = power < -1000.0 ? -1000.0 : power;
  // Adding 1.5 * 2^52 rounds to an integer; 0x4338000000000000 are its bits.
  const double shifted = power + 6755399441055744.0;
  const double r = power - (shifted - 6755399441055744.0), r2 = r * r, r4 = r2 * r2;
  // 2^r, with a fit whose relative error is below 2^-51.
  const double q01 = 0.69314718055995 * r + 1.0;
  const double q23 = 0.05550410866444769 * r + 0.24022650695910097;
  const double q45 = 0.0013333558230168993 * r + 0.009618129107606902;
  const double q67 = 1.5252657258166923e-05 * r + 0.00015403530441732705;
  const double q89 = 1.0208690645069252e-07 * r + 1.321544258901283e-06;
  const double high = (7.072585484064442e-09 * r2 + q89) * r4 + (q67 * r2 + q45);
  const double q = high * r4 + (q23 * r2 + q01);
  const uint64_t exponent = std::bit_cast<uint64_t>(shifted) - 0x4338000000000000u;
  const double scaled = q * VectorExp2(static_cast<int64_t>(exponent));
  return WithPowerLimits(x, y, static_cast<float>(scaled));
}

// Returns x without the last 32 bits: 21 bits are left, so that the product of two such numbers is
// exact, whether or not the compiler fuses it with an addition.
COOPER_HOST_DEVICE inline double FirstBits(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0xffffffff00000000u);
}

// A number that is the sum high + low. `high` has 21 bits.
struct VectorSum64 {
  double high, low;
};

// Returns the logarithm to base 2 of a positive finite number with about 68 correct bits, by the
// method of fdlibm (e_pow.c): the largest terms are split so that their products are exact.
COOPER_HOST_DEVICE inline VectorSum64 SplitLog2(double x) {
  const auto [n, f] = SplitExponent(x);
  // s = f / (2 + f), as s_high + s_low.
  const double sum = f + 2.0;
  const double sum_high = FirstBits(sum), sum_low = f - (sum_high - 2.0);
  const double inverse = 1.0 / sum;
  const double s = f * inverse;
  const double s_high = FirstBits(s);
  const double s_low = ((f - s_high * sum_high) - s_high * sum_low) * inverse;
  // log(1 + f) = 2 atanh(s) = 2/3 s (3 + s^2 + s^4 r(s^2)), with a minimax fit for r.
  const double z = s * s, z2 = z * z;
  const double r01 = 0.42857142857144052178 * z + 0.59999999999999999725;
  const double r23 = 0.27272727503481239202 * z + 0.33333333332482098852;
  const double r45 = 0.20002209318150905477 * z + 0.23076892401896875033;
  const double r67 = 0.17585405434358117439 * z + 0.17559293534822047255;
  const double r = (r67 * z2 + r45) * (z2 * z2) + (r23 * z2 + r01);
  const double square = s_high * s_high;
  const double rest = r * z2 + s_low * (s_high + s);
  const double t_high = FirstBits(3.0 + square + rest);
  const double t_low = rest - ((t_high - 3.0) - square);
  // s (3 + s^2 + ...), as p_high + p_low.
  const double u = s_high * t_high, v = s_low * t_high + t_low * s;
  const double p_high = FirstBits(u + v), p_low = v - (p_high - u);
  // 2 / (3 ln 2), of which the first part has 21 bits.
  constexpr double kFactor = 0.96179669392597560491;
  constexpr double kFactorHigh = 0.96179628372192382812, kFactorLow = 4.1020405177678161645e-7;
  const double q_high = kFactorHigh * p_high, q_low = kFactorLow * p_high + p_low * kFactor;
  const double high = FirstBits(n + (q_high + q_low));
  return {high, q_low - ((high - n) - q_high)};
}

// The parts of 2^(high + low) = 2^exponent mantissa, with a mantissa in [1/2, 2]. Exponents beyond
// 2^50 are meaningless.
struct VectorScaled64 {
  uint64_t exponent;  // in two's complement
  double mantissa;

  COOPER_HOST_DEVICE VectorScaled64(double high, double low) {
    // Adding 1.5 * 2^52 rounds to an integer; 0x4338000000000000 are its bits.
    const double shifted = high + low + 6755399441055744.0;
    const double fraction = high - (shifted - 6755399441055744.0);
    // The rest of the exponent times ln 2, as x + lost: 2^(high + low) is exact where it can be.
    constexpr double kLn2 = 0.69314718055994530942;
    constexpr double kLn2High = 0.6931467056274414, kLn2Low = 4.7493250390316726e-07;
    const double rest = FirstBits(fraction + low);
    const double x_high = rest * kLn2High;
    const double x_low = ((fraction - rest) + low) * kLn2 + rest * kLn2Low;
    const double x = x_high + x_low, lost = (x_high - x) + x_low;
    const auto [n, expm1] = SplitVectorExp(x);
    exponent = std::bit_cast<uint64_t>(shifted) - 0x4338000000000000u + static_cast<uint64_t>(n);
    const double rounded = expm1 + 1.0;
    mantissa = rounded + ((expm1 - (rounded - 1.0)) + rounded * lost);
  }

  // Return 2^exponent as the product of two factors, for exponents from -2044 to 2046: it may be
  // beyond the normal numbers.
  COOPER_HOST_DEVICE double FirstFactor() const { return VectorExp2(static_cast<int64_t>(Half())); }
  COOPER_HOST_DEVICE double SecondFactor() const {
    return VectorExp2(static_cast<int64_t>(exponent - Half()));
  }

 private:
  // Returns exponent / 2 by an unsigned shift, which vector instructions support.
  COOPER_HOST_DEVICE uint64_t Half() const { return ((exponent + 4096u) >> 1 & 0xffffu) - 2048u; }
};

// Returns x to the power of y in double: 2^(y log2 |x|), with the logarithm in two parts.
COOPER_HOST_DEVICE inline double VectorPow(double x, double y) {
  const double magnitude = std::fabs(x);
  const auto [high, low] = SplitLog2(magnitude);
  const double y_high = FirstBits(y);
  const VectorScaled64 scaled(y_high * high, (y - y_high) * high + y * low);
  double power = scaled.mantissa * scaled.FirstFactor() * scaled.SecondFactor();
  // The logarithm of the power with 20 bits, which tells where it overflows by far; NaN if x or y
  // is.
  const double rough = y * WithLogLimits(magnitude, high);
  power = rough > 1100.0 ? std::numeric_limits<double>::infinity() : power;
  power = rough < -1100.0 ? 0.0 : power;
  power = rough == rough ? power : rough;
  return WithPowerLimits(x, y, power);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_LOG_H_
