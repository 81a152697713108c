#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_TRIG_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_TRIG_H_

// Trigonometric functions and their inverses without branches or calls (vector_math.h). The errors
// are at most 3.5 units in the last place (vector_math_test.cc). Sine, cosine and tangent hold for
// |x| <= kVectorAngleLimit only; element loops compute larger angles by the C library
// (LimitedLoopBody in elemwise_loop.h). C is float or double.

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "ndarray/base/host_device.h"

namespace cooper {

// The largest angle, in radians, of sine, cosine and tangent. Up to it a number of quarter turns
// has 20 bits, so that its product with a part of pi / 2 that has 33 bits is exact.
inline constexpr double kVectorAngleLimit = 1e6;

// An angle x = quadrant * pi / 2 + r + tail, |r| <= pi / 4; `tail` is what r has lost by rounding
// (double only). Sin() and Cos() are those of r + tail. The constructor reduces x by Cody and
// Waite's method, with pi / 2 in two parts for float and three for double. `quadrant` counts
// quarter turns from 0; only its two lowest bits have a meaning.
template <typename C>
struct VectorAngle;
template <>
struct VectorAngle<float> {
  float r;
  uint32_t quadrant;  // its last two bits

  // Reduces x in double precision, whose rounding does not matter to a float.
  COOPER_HOST_DEVICE explicit VectorAngle(float x) {
    const double wide = x;
    // Adding 1.5 * 2^52 rounds to an integer, which then is the sum's low bits.
    const double shifted = wide * (2 / std::numbers::pi) + 6755399441055744.0;
    const double n = shifted - 6755399441055744.0;
    r = static_cast<float>((wide - n * 1.5707963267341256) - n * 6.077100506506192e-11);
    quadrant = static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted));
  }

  // Returns the sine and the cosine of r, by minimax fits.
  COOPER_HOST_DEVICE float Sin() const {
    const float z = r * r;
    return r + r * z * ((-0.00019516655f * z + 0.008332173f) * z - 0.16666655f);
  }
  COOPER_HOST_DEVICE float Cos() const {
    const float z = r * r;
    const float p = (2.4437728e-5f * z - 0.0013887362f) * z + 0.041666646f;
    return 1.0f + (p * z - 0.5f) * z;
  }
};

template <>
struct VectorAngle<double> {
  double r, tail;
  uint64_t quadrant;  // its last two bits

  COOPER_HOST_DEVICE explicit VectorAngle(double x) {
    // Adding 1.5 * 2^52 rounds to an integer, as in float.
    const double shifted = x * (2 / std::numbers::pi) + 6755399441055744.0;
    const double n = shifted - 6755399441055744.0;
    // pi / 2 in three parts, of which the first two have 33 bits; where x lies near a multiple of
    // it the differences cancel, and what each has lost counts.
    const double first = x - n * 1.5707963267341256;
    const double part = n * 6.077100506303966e-11;
    const double second = first - part;
    const double back = second - first;
    const double lost = (first - (second - back)) - (part + back);
    const double rest = lost - n * 2.0222662487959506e-21;
    r = second + rest;
    tail = (second - r) + rest;
    quadrant = std::bit_cast<uint64_t>(shifted);
  }

  // Returns the sine and the cosine of r + tail, by minimax fits. The form of the sums is that of
  // fdlibm (k_sin.c, k_cos.c), which adds the largest term last.
  COOPER_HOST_DEVICE double Sin() const {
    const double z = r * r, z2 = z * z;
    // sin(r) = r + r^3 p(r^2), in Estrin's order; the last term is tail times cos(r).
    const double p01 = 0.00833333333331297 * z - 0.16666666666666588;
    const double p23 = 2.7557311551149464e-6 * z - 0.00019841269823037773;
    const double p45 = 1.5880150441836342e-10 * z - 2.505044911670362e-8;
    const double p = (p45 * z2 + p23) * z2 + p01;
    return r + (r * z * p + tail * (1.0 - 0.5 * z));
  }
  COOPER_HOST_DEVICE double Cos() const {
    const double z = r * r, z2 = z * z;
    // cos(r) = 1 - r^2 / 2 + r^4 p(r^2) - r * tail. The rounding error of 1 - r^2 / 2 is added
    // back.
    const double p01 = -0.0013888888888791706 * z + 0.04166666666666601;
    const double p23 = -2.755730404853442e-7 * z + 2.4801587246987663e-5;
    const double p45 = -1.1306233300824152e-11 * z + 2.0874529537966535e-9;
    const double p = (p45 * z2 + p23) * z2 + p01;
    const double half = 0.5 * z, near = 1.0 - half;
    return near + (((1.0 - near) - half) + (z2 * p - r * tail));
  }
};

// Returns `y` with its sign changed where `quadrant` has its second bit, by an exclusive or with
// the sign bit.
COOPER_HOST_DEVICE inline float ApplyQuadrantSign(float y, uint32_t quadrant) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(y) ^ (quadrant & 2u) << 30);
}
COOPER_HOST_DEVICE inline double ApplyQuadrantSign(double y, uint64_t quadrant) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(y) ^ (quadrant & 2u) << 62);
}

// Returns sin(x): the sine or the cosine of the reduced angle, as the quadrant says. sin(-0) is -0;
// NaN and infinities give NaN.
template <typename C>
COOPER_HOST_DEVICE C VectorSin(C x) {
  const VectorAngle<C> angle(x);
  const C sin = angle.Sin(), cos = angle.Cos();
  const C y = ApplyQuadrantSign((angle.quadrant & 1u) == 0 ? sin : cos, angle.quadrant);
  return x == 0 ? x : y;  // sin(-0) is -0
}

// Returns cos(x), as sin(x + pi / 2): in the next quadrant.
template <typename C>
COOPER_HOST_DEVICE C VectorCos(C x) {
  const VectorAngle<C> angle(x);
  const C sin = angle.Sin(), cos = angle.Cos();
  return ApplyQuadrantSign((angle.quadrant & 1u) == 0 ? cos : sin, angle.quadrant + 1u);
}

// Returns tan(x): sin / cos of the reduced angle, or -cos / sin in odd quadrants.
template <typename C>
COOPER_HOST_DEVICE C VectorTan(C x) {
  const VectorAngle<C> angle(x);
  const C sin = angle.Sin(), cos = angle.Cos();
  const bool even = (angle.quadrant & 1u) == 0;
  // In an odd quadrant tan(x) is -1 / tan of the reduced angle.
  const C y = (even ? sin : -cos) / (even ? cos : sin);
  return x == 0 ? x : y;
}

// Returns (atan(t) - t) / t^3 of z = t^2, |t| <= tan(pi / 8), by minimax fits.
COOPER_HOST_DEVICE inline float AtanTail(float z) {
  const float z2 = z * z;
  return ((-0.060788497f * z + 0.10594273f) * z2 + (-0.14243628f * z + 0.19998479f)) * z -
         0.33333316f;
}
COOPER_HOST_DEVICE inline double AtanTail(double z) {
  const double z2 = z * z, z4 = z2 * z2;
  const double p01 = 0.1999999999988107 * z - 0.3333333333333293;
  const double p23 = 0.11111110466565949 * z - 0.14285714273376607;
  const double p45 = 0.07691922084169582 * z - 0.09090889325085415;
  const double p67 = 0.05838482679576657 * z - 0.06661669013657012;
  const double p89 = 0.0373251619983506 * z - 0.0500236382219336;
  const double pab = 0.0008499026754250136 * z - 0.017604525613340288;
  return ((pab * z2 + p89) * z4 + (p67 * z2 + p45)) * z4 + (p23 * z2 + p01);
}

// pi / 2 less its value in C: what the constant has lost by rounding.
template <typename C>
inline constexpr C kHalfPiError = sizeof(C) == 4 ? C(-4.371139000186241e-8)
                                                 : C(6.123233995736766e-17);

// Returns the inverse of tan, in [-pi / 2, pi / 2]. Beyond tan(3 pi / 8) atan(|x|) is pi / 2 -
// atan(1 / |x|), beyond tan(pi / 8) it is pi / 4 + atan((|x| - 1) / (|x| + 1)).
template <typename C>
COOPER_HOST_DEVICE C VectorArctan(C x) {
  const C a = std::fabs(x);
  const bool large = a > static_cast<C>(2.4142135623730951),
             middle = a > static_cast<C>(0.41421356237309503);
  // One division serves all three ranges: t is -1 / a, (a - 1) / (a + 1) or a, and at most tan(pi /
  // 8) in magnitude.
  const C t = (large ? C{-1} : middle ? a - C{1} : a) / (large ? a : middle ? a + C{1} : C{1});
  const C z = t * t;
  const C base = large    ? static_cast<C>(std::numbers::pi / 2)
                 : middle ? static_cast<C>(std::numbers::pi / 4)
                          : C{0};
  // The rounding error of `base`.
  const C lost = large ? kHalfPiError<C> : middle ? kHalfPiError<C> / 2 : C{0};
  return std::copysign(base + (t + (t * z * AtanTail(z) + lost)), x);
}

// Returns the angle of the point (x, y) in [-pi, pi], with the sign of y, as std::atan2.
template <typename C>
COOPER_HOST_DEVICE C VectorArctan2(C y, C x) {
  const C a = std::fabs(y), b = std::fabs(x);
  // Zeros and infinities have a ratio, too.
  const C equal = a == 0 ? C{0} : C{1};
  const C ratio = a / b;
  const C angle = VectorArctan(a == b ? equal : ratio);
  const C turned = static_cast<C>(std::numbers::pi) - (angle - C{2} * kHalfPiError<C>);
  return std::copysign(std::copysign(C{1}, x) < 0 ? turned : angle, y);
}

// Returns (asin(t) - t) / t^3 of z = t^2, |t| <= 1/2, by minimax fits.
COOPER_HOST_DEVICE inline float AsinTail(float z) {
  const float z2 = z * z;
  return ((0.04227851f * z + 0.02411449f) * z2 + (0.045483336f * z + 0.07495196f)) * z +
         0.16666755f;
}
COOPER_HOST_DEVICE inline double AsinTail(double z) {
  const double z2 = z * z, z4 = z2 * z2;
  const double p01 = 0.07500000000369929 * z + 0.1666666666666527;
  const double p23 = 0.03038196024521979 * z + 0.04464285680123796;
  const double p45 = 0.017360095062446616 * z + 0.022371731794164604;
  const double p67 = 0.012193755556055907 * z + 0.013881439179111051;
  const double p89 = 0.019810514436499053 * z + 0.0064233909310246915;
  const double pab = 0.032208500090369 * z - 0.01666150662887257;
  return ((pab * z2 + p89) * z4 + (p67 * z2 + p45)) * z4 + (p23 * z2 + p01);
}

// The common part of VectorArcsin and VectorArccos: asin(t) where |x| <= 1/2 and t = |x|, else
// where asin(|x|) = pi / 2 - 2 asin(t), with t = sqrt((1 - |x|) / 2). NaN for |x| > 1, from the
// root.
template <typename C>
struct VectorArcsinParts {
  bool large;
  C asin;

  COOPER_HOST_DEVICE explicit VectorArcsinParts(C x) {
    const C a = std::fabs(x);
    large = a > C{0.5};
    // Near 1 the formula of the half angle applies: asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
    const C z = large ? C{0.5} * (C{1} - a) : a * a;
    const C root = std::sqrt(z);
    const C t = large ? root : a;
    // asin(t) = t + t^3 tail(t^2).
    asin = t + t * z * AsinTail(z);
  }
};

// Returns the inverse of sin, in [-pi / 2, pi / 2]; NaN for |x| > 1.
template <typename C>
COOPER_HOST_DEVICE C VectorArcsin(C x) {
  const VectorArcsinParts<C> parts(x);
  // pi / 2 - 2 asin(t), with the rounding error of pi / 2 added back.
  const C far = static_cast<C>(std::numbers::pi / 2) - (C{2} * parts.asin - kHalfPiError<C>);
  return std::copysign(parts.large ? far : parts.asin, x);
}

// Returns the inverse of cos, in [0, pi]; NaN for |x| > 1.
template <typename C>
COOPER_HOST_DEVICE C VectorArccos(C x) {
  const VectorArcsinParts<C> parts(x);
  // pi / 2 - asin(x) up to 1/2, 2 asin(t) for x > 1/2, pi - 2 asin(t) for x < -1/2.
  const C signed_asin = std::copysign(parts.asin, x);
  const C near = static_cast<C>(std::numbers::pi / 2) - (signed_asin - kHalfPiError<C>);
  const C twice = C{2} * parts.asin;
  const C far = x > 0 ? twice : static_cast<C>(std::numbers::pi) - (twice - C{2} * kHalfPiError<C>);
  return parts.large ? far : near;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_TRIG_H_
