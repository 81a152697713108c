#ifndef COOPER_NDARRAY_RANDOM_RANDOM_VALUES_H_
#define COOPER_NDARRAY_RANDOM_RANDOM_VALUES_H_

// Uniform and normal numbers of a Philox stream with the same bits on every device: the code
// depends neither on a mathematical library nor on which products and sums a compiler fuses.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "ndarray/base/host_device.h"
#include "ndarray/base/philox.h"

namespace cooper {

// Returns ln(x) within 2 units in the last place, for a positive x that is not subnormal. Free of
// branches, so that loops vectorise. Results for 0, negative numbers, infinities and NaN are
// meaningless: they are not tested.
COOPER_HOST_DEVICE inline double LogOf(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); then, with s = (m - 1) / (m + 1),
  // ln(m) = 2 (s + s^3/3 + s^5/5 + ...), where |s| < 0.1716.
  uint64_t words;
  std::memcpy(&words, &x, sizeof(words));
  const auto exponent = static_cast<int>(words >> 52) - 1023;
  words = (words & 0xfffffffffffffu) | 0x3ff0000000000000u;
  double m;
  std::memcpy(&m, &words, sizeof(m));
  const bool halve = m > 1.4142135623730951;
  const double e = exponent + (halve ? 1.0 : 0.0);
  m *= halve ? 0.5 : 1.0;
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 25;
  p = std::fma(p, z, 1.0 / 23);
  p = std::fma(p, z, 1.0 / 21);
  p = std::fma(p, z, 1.0 / 19);
  p = std::fma(p, z, 1.0 / 17);
  p = std::fma(p, z, 1.0 / 15);
  p = std::fma(p, z, 1.0 / 13);
  p = std::fma(p, z, 1.0 / 11);
  p = std::fma(p, z, 1.0 / 9);
  p = std::fma(p, z, 1.0 / 7);
  p = std::fma(p, z, 1.0 / 5);
  p = std::fma(p, z, 1.0 / 3);
  p = std::fma(p, z, 1.0);
  constexpr double kLn2 = 0.69314718055994530942;
  return std::fma(e, kLn2, 2.0 * s * p);
}

// Returns ln(fraction), where fraction = (bits + 1) * 2^-32, in (0, 1].
COOPER_HOST_DEVICE inline double LogOfFraction(uint32_t bits) {
  return LogOf((static_cast<double>(bits) + 1.0) * 0x1p-32);
}

// Computes the cosine and sine of 2 pi turn, within 2 units in the last place of 1. A plain value.
// The angle is reduced to an eighth of a turn from the nearest quarter, where short series suffice.
class Turn {
 public:
  // `turn` is in [0, 1).
  COOPER_HOST_DEVICE explicit Turn(double turn) : quarter_(static_cast<int>(8 * turn + 1) / 2) {
    // Reduces to an angle of at most an eighth of a turn from the nearest quarter.
    angle_ = (turn - 0.25 * quarter_) * 6.28318530717958647693;
  }

  // Sums both series and selects one, so that loops vectorise. The quarter decides which series it
  // is, and its sign.
  COOPER_HOST_DEVICE double Cos() const {
    const double cosine = CosOfAngle(), sine = SinOfAngle();
    return (quarter_ % 2 == 0 ? cosine : sine) * (quarter_ == 1 || quarter_ == 2 ? -1.0 : 1.0);
  }
  COOPER_HOST_DEVICE double Sin() const {
    const double cosine = CosOfAngle(), sine = SinOfAngle();
    return (quarter_ % 2 == 0 ? sine : cosine) * (quarter_ == 2 || quarter_ == 3 ? -1.0 : 1.0);
  }

 private:
  // Return cosine and sine of the reduced angle, |angle| <= pi / 4, by Taylor series in Horner's
  // form; std::fma keeps the bits equal on all devices.
  COOPER_HOST_DEVICE double CosOfAngle() const {
    const double z = angle_ * angle_;
    double p = 1.0 / 20922789888000;  // 16!
    p = std::fma(p, z, -1.0 / 87178291200);
    p = std::fma(p, z, 1.0 / 479001600);
    p = std::fma(p, z, -1.0 / 3628800);
    p = std::fma(p, z, 1.0 / 40320);
    p = std::fma(p, z, -1.0 / 720);
    p = std::fma(p, z, 1.0 / 24);
    p = std::fma(p, z, -1.0 / 2);
    return std::fma(p, z, 1.0);
  }
  COOPER_HOST_DEVICE double SinOfAngle() const {
    const double z = angle_ * angle_;
    double p = 1.0 / 355687428096000;  // 17!
    p = std::fma(p, z, -1.0 / 1307674368000);
    p = std::fma(p, z, 1.0 / 6227020800);
    p = std::fma(p, z, -1.0 / 39916800);
    p = std::fma(p, z, 1.0 / 362880);
    p = std::fma(p, z, -1.0 / 5040);
    p = std::fma(p, z, 1.0 / 120);
    p = std::fma(p, z, -1.0 / 6);
    return std::fma(angle_ * z, p, angle_);
  }

  int quarter_;  // 0 to 4
  double angle_;
};

// Returns cos(2 pi bits 2^-32).
COOPER_HOST_DEVICE inline double CosOfTurn(uint32_t bits) {
  return Turn(static_cast<double>(bits) * 0x1p-32).Cos();
}

// Returns number i of a stream that is uniform in [-scale, scale). The numbers are multiples of
// scale * 2^-23.
COOPER_HOST_DEVICE inline float UniformValue(const Philox& random, uint64_t i, float scale) {
  return scale * (2 * random.UniformAt(i) - 1);  // the sum is exact, whether joined or not
}

// Returns number i of a normal stream with standard deviation `sigma`, by the method of Box and
// Muller, whose second number is not used. The magnitude is below 6.7 sigma, since the uniform
// number is a multiple of 2^-32.
COOPER_HOST_DEVICE inline float NormalValue(const Philox& random, uint64_t i, double sigma) {
  const auto bits = random.At(i);
  const double radius = std::sqrt(-2.0 * LogOfFraction(bits[0]));
  return static_cast<float>(sigma * radius * CosOfTurn(bits[1]));
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_RANDOM_RANDOM_VALUES_H_
