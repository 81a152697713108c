#include "executor/kernels/loops/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "executor/kernels/loops/vector_cbrt.h"
#include "executor/kernels/loops/vector_erf.h"
#include "executor/kernels/loops/vector_gamma.h"
#include "executor/kernels/loops/vector_hyperbolic.h"
#include "executor/kernels/loops/vector_hypot.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_trig.h"
#include "gtest/gtest.h"
#include "ndarray/base/philox.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/each_cpu_level.h"

namespace cooper {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A function, the C library's function in long double, and the largest allowed errors, in units in
// the last place of float and of double.
struct Function {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  long double (*exact)(long double);
  double most_ulps32;
  double most_ulps64;
  long double lowest = -std::numeric_limits<long double>::infinity();
  long double highest = std::numeric_limits<long double>::infinity();
  // The unit in the last place is that of a result of at least this magnitude: for functions that
  // are sums of terms which cancel near their zeros.
  double least = 0;
};

#define COOPER_BOTH(Name) [](float x) { return Name(x); }, [](double x) { return Name(x); }
#define COOPER_EXACT(value) [](long double x) -> long double { return value; }

// Returns the logarithmic derivative of the gamma function, by reflection, recurrence and the
// asymptotic series; NaN at negative integers, as VectorDigamma.
long double ExactDigamma(long double x) {
  if (x == 0) return -std::copysign(std::numeric_limits<long double>::infinity(), x);
  long double value = 0;
  if (x < 0) {
    const long double fraction = x - std::round(x);
    if (!(std::fabs(fraction) > 0)) return std::numeric_limits<long double>::quiet_NaN();
    const long double angle = std::numbers::pi_v<long double> * fraction;
    value = -std::numbers::pi_v<long double> * std::cos(angle) / std::sin(angle) - 1 / x;
    x = -x;
  }
  for (; x < 40; ++x) value -= 1 / x;
  const long double u = 1 / (x * x);
  long double series = 0;
  for (const long double b :
       {691 / 32760.0L, 1 / 132.0L, 1 / 240.0L, 1 / 252.0L, 1 / 120.0L, 1 / 12.0L}) {
    series = u * (b - series);
  }
  return value + std::log(x) - 0.5L / x - series;
}

// Bounds are the largest observed errors, rounded up to the next half. Sigmoid and exp of
// non-positive numbers return 0 before the result is subnormal.
const Function kFunctions[] = {
    {"Exp", COOPER_BOTH(VectorExp), COOPER_EXACT(std::exp(x)), 1.5, 1.5},
    {"ExpOfNonPositive", COOPER_BOTH(VectorExpOfNonPositive), COOPER_EXACT(std::exp(x)), 1.5, 1.5,
     -87.0L, 0.0L},
    {"Expm1", COOPER_BOTH(VectorExpm1), COOPER_EXACT(std::expm1(x)), 2, 2.5},
    {"Expm1OfNonPositive", COOPER_BOTH(VectorExpm1OfNonPositive), COOPER_EXACT(std::expm1(x)), 2,
     2.5, -std::numeric_limits<long double>::infinity(), 0.0L},
    {"Tanh", COOPER_BOTH(VectorTanh), COOPER_EXACT(std::tanh(x)), 3, 3},
    {"Sigmoid", COOPER_BOTH(VectorSigmoid), COOPER_EXACT(1 / (1 + std::exp(-x))), 3, 2.5, -87.0L},
    {"Log", COOPER_BOTH(VectorLog), COOPER_EXACT(std::log(x)), 1, 1, 0.0L},
    {"Log2", COOPER_BOTH(VectorLog2), COOPER_EXACT(std::log2(x)), 2, 1.5, 0.0L},
    {"Log10", COOPER_BOTH(VectorLog10), COOPER_EXACT(std::log10(x)), 2, 2, 0.0L},
    {"Log1p", COOPER_BOTH(VectorLog1p), COOPER_EXACT(std::log1p(x)), 1, 1, -1.0L},
    {"SoftRelu", COOPER_BOTH(VectorSoftRelu), COOPER_EXACT(x > 20 ? x : std::log1p(std::exp(x))),
     2.5, 1.5, -87.0L},
    {"Cbrt", COOPER_BOTH(VectorCbrt), COOPER_EXACT(std::cbrt(x)), 1, 1.5},
    {"Erf", COOPER_BOTH(VectorErf), COOPER_EXACT(std::erf(x)), 1.5, 1.5},
    {"NormalCdf", COOPER_BOTH(VectorNormalCdf),
     COOPER_EXACT(std::erfc(-x* std::numbers::sqrt2_v<long double> / 2) / 2), 1.5, 1.5,
     -std::numeric_limits<long double>::infinity(), std::numeric_limits<long double>::infinity(),
     1},
    {"Gamma", COOPER_BOTH(VectorGamma), COOPER_EXACT(std::tgamma(x)), 1, 6},
    {"LogGamma", COOPER_BOTH(VectorLogGamma), COOPER_EXACT(std::lgamma(x)), 1, 8, 0.0L},
    {"LogGammaOfNegative", COOPER_BOTH(VectorLogGamma), COOPER_EXACT(std::lgamma(x)), 1, 14,
     -std::numeric_limits<long double>::infinity(), 0.0L, 1},
    {"Digamma", COOPER_BOTH(VectorDigamma), COOPER_EXACT(ExactDigamma(x)), 1, 10, 0.0L,
     std::numeric_limits<long double>::infinity(), 1},
    {"DigammaOfNegative", COOPER_BOTH(VectorDigamma), COOPER_EXACT(ExactDigamma(x)), 1, 40,
     -std::numeric_limits<long double>::infinity(), 0.0L, 1},
    {"Sin", COOPER_BOTH(VectorSin), COOPER_EXACT(std::sin(x)), 1.5, 1, -kVectorAngleLimit,
     kVectorAngleLimit},
    {"Cos", COOPER_BOTH(VectorCos), COOPER_EXACT(std::cos(x)), 1.5, 1, -kVectorAngleLimit,
     kVectorAngleLimit},
    {"Tan", COOPER_BOTH(VectorTan), COOPER_EXACT(std::tan(x)), 3.5, 2.5, -kVectorAngleLimit,
     kVectorAngleLimit},
    {"Arctan", COOPER_BOTH(VectorArctan), COOPER_EXACT(std::atan(x)), 2, 2},
    {"Arcsin", COOPER_BOTH(VectorArcsin), COOPER_EXACT(std::asin(x)), 2.5, 2.5, -1.0L, 1.0L},
    {"Arccos", COOPER_BOTH(VectorArccos), COOPER_EXACT(std::acos(x)), 1.5, 1.5, -1.0L, 1.0L},
    {"Sinh", COOPER_BOTH(VectorSinh), COOPER_EXACT(std::sinh(x)), 2.5, 2.5},
    {"Cosh", COOPER_BOTH(VectorCosh), COOPER_EXACT(std::cosh(x)), 1.5, 1.5},
    {"Arcsinh", COOPER_BOTH(VectorArcsinh), COOPER_EXACT(std::asinh(x)), 2, 2},
    {"Arccosh", COOPER_BOTH(VectorArccosh), COOPER_EXACT(std::acosh(x)), 2.5, 2.5, 1.0L},
    {"Arctanh", COOPER_BOTH(VectorArctanh), COOPER_EXACT(std::atanh(x)), 2, 2, -1.0L, 1.0L},
};

class VectorMathTest : public ::testing::TestWithParam<Function> {};

// Returns the error of f(x) in units in the last place of C; 0 if the exact result is not a normal
// number.
template <typename C>
double UlpsOf(const Function& function, C (*f)(C), C x) {
  if (!(x >= function.lowest && x <= function.highest)) return 0;
  const long double exact = function.exact(x);
  const C rounded = static_cast<C>(exact);
  if (!std::isnormal(rounded)) return 0;
  int exponent;
  std::frexp(std::max(std::fabs(rounded), static_cast<C>(function.least)), &exponent);
  const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<C>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(f(x)) - exact) / ulp);
}

// Returns random arguments with every exponent and both signs, and evenly spaced ones near 0.
template <typename C, typename Bits>
std::vector<C> Arguments() {
  constexpr int kMantissa = std::numeric_limits<C>::digits - 1;
  constexpr int kExponents = 2 * std::numeric_limits<C>::max_exponent - 1;
  const Philox random(/*seed=*/7, /*stream=*/0);
  std::vector<C> arguments;
  int64_t draw = 0;
  for (int exponent = 0; exponent < kExponents; ++exponent) {
    const int count = kExponents > 1000 ? 8 : 64;
    for (int i = 0; i < count; ++i) {
      const auto mantissa =
          static_cast<Bits>(random.UniformAt(draw++) * std::ldexp(1.0, kMantissa));
      const C x = std::bit_cast<C>((static_cast<Bits>(exponent) << kMantissa) | mantissa);
      arguments.insert(arguments.end(), {x, -x});
    }
  }
  for (int i = 0; i < 10'000; ++i)
    arguments.push_back(static_cast<C>(60 * random.UniformAt(draw++) - 30));
  for (int i = 0; i < 10'000; ++i)
    arguments.push_back(static_cast<C>(4 * random.UniformAt(draw++) - 2));
  return arguments;
}

TEST_P(VectorMathTest, IsAccurateAtEveryLevel) {
  const Function& function = GetParam();
  const std::vector<float> of32 = Arguments<float, uint32_t>();
  const std::vector<double> of64 = Arguments<double, uint64_t>();
  ForEachCpuLevel([&] {
    RunAtCpuLevel([&] {
      for (const float x : of32) {
        ASSERT_LE(UlpsOf(function, function.f32, x), function.most_ulps32) << "float " << x;
      }
      for (const double x : of64) {
        ASSERT_LE(UlpsOf(function, function.f64, x), function.most_ulps64) << "double " << x;
      }
    });
  });
}

// Checks that zeros, infinities, NaN and arguments outside of the domain give the C library's
// results, except for the sign of NaN.
TEST_P(VectorMathTest, HasTheLimitsOfTheCLibrary) {
  const Function& function = GetParam();
  for (const double x : {0.0, -0.0, double{kInf}, -double{kInf}, double{kNan}, -1.0, -2.0, 1.0}) {
    if (x < function.lowest && function.lowest <= -87) continue;
    if (x > function.highest) continue;
    const auto exact = static_cast<double>(function.exact(x));
    for (const double y : {function.f64(x), double{function.f32(static_cast<float>(x))}}) {
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(y)) << x;
      } else if (std::isinf(exact) || exact == 0) {
        EXPECT_EQ(y, exact) << x;
        if (function.highest != 0) {
          EXPECT_EQ(std::signbit(y), std::signbit(exact)) << x;
        }
      } else {
        EXPECT_NEAR(y, exact, 1e-6) << x;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorMathTest, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

// Checks x^y for all pairs of special numbers: the kind and the sign of the result, and its value
// with an error of `most_ulps`.
template <typename C>
void ExpectPowers(double most_ulps) {
  const C inf = std::numeric_limits<C>::infinity(), nan = std::numeric_limits<C>::quiet_NaN();
  // The largest odd integer, and the even one after it.
  const C even = std::ldexp(C{1}, std::numeric_limits<C>::digits), odd = even - 1;
  std::vector<C> special = {0,
                            1,
                            inf,
                            nan,
                            2,
                            C{0.5},
                            3,
                            C{2.5},
                            C{1e30},
                            even,
                            odd,
                            C{1e-40},
                            std::numeric_limits<C>::max(),
                            std::numeric_limits<C>::denorm_min()};
  for (size_t i = 0, n = special.size(); i < n; ++i) special.push_back(-special[i]);
  for (const C x : special) {
    for (const C y : special) {
      const C exact = std::pow(x, y), power = VectorPow(x, y);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(power)) << x << " to the " << y;
        continue;
      }
      const bool equal =
          power == exact || std::fabs(power - exact) <=
                                most_ulps * std::numeric_limits<C>::epsilon() * std::fabs(exact);
      EXPECT_TRUE(equal) << x << " to the " << y << " = " << power << ", expected " << exact;
      EXPECT_EQ(std::signbit(power), std::signbit(exact)) << x << " to the " << y;
    }
  }
}

TEST(VectorPowTest, IsTheCLibrarys) {
  ExpectPowers<float>(0);
  ExpectPowers<double>(1);
}

// Roundings before the last one are small, so a power that is a double is exact.
TEST(VectorPowTest, IsExactWherePowersAreDoubles) {
  ForEachCpuLevel([] {
    RunAtCpuLevel([] {
      for (int base = 2; base < 1000; ++base) {
        double power = base;
        for (int exponent = 2; power * base < 0x1p53; ++exponent) {
          power *= base;
          EXPECT_EQ(VectorPow(double(base), double(exponent)), power) << base;
        }
        EXPECT_EQ(VectorPow(double(base) * base, 0.5), base);
      }
      for (int n = -1074; n < 1024; ++n) EXPECT_EQ(VectorPow(2.0, double(n)), std::ldexp(1.0, n));
    });
  });
}

// Checks powers of bases with every exponent, up to where they overflow and underflow.
template <typename C, typename Bits>
void ExpectAccuratePowers(double most_ulps) {
  const Philox random(/*seed=*/8, /*stream=*/0);
  int64_t draw = 0;
  for (const C x : Arguments<C, Bits>()) {
    if (!(x > 0 && std::isnormal(x)) || x == 1) continue;
    const long double limit = std::numeric_limits<C>::max_exponent / std::log2((long double){x});
    const C y = static_cast<C>(limit * (2 * random.UniformAt(draw++) - 1));
    const long double exact = std::pow((long double){x}, (long double){y});
    const C rounded = static_cast<C>(exact);
    if (!std::isnormal(rounded)) continue;
    int exponent;
    std::frexp(rounded, &exponent);
    const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<C>::digits);
    ASSERT_LE(std::fabs(VectorPow(x, y) - exact) / ulp, most_ulps) << x << " to the " << y;
  }
}

TEST(VectorPowTest, IsAccurateAtEveryLevel) {
  ForEachCpuLevel([] {
    RunAtCpuLevel([] {
      ExpectAccuratePowers<float, uint32_t>(0.501);
      ExpectAccuratePowers<double, uint64_t>(1);
    });
  });
}

template <typename C, typename Bits>
void ExpectAccurateHypot() {
  const std::vector<C> arguments = Arguments<C, Bits>();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const C a = arguments[i];
    for (const C b : {a / 3, arguments[i * 7 % arguments.size()]}) {
      const long double exact = std::hypot((long double){a}, (long double){b});
      const C rounded = static_cast<C>(exact);
      if (!std::isnormal(rounded)) continue;
      int exponent;
      std::frexp(rounded, &exponent);
      const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<C>::digits);
      ASSERT_LE(std::fabs(VectorHypot(a, b) - exact) / ulp, 1.5L) << a << " and " << b;
    }
  }
}

template <typename C, typename Bits>
void ExpectAccurateArctan2(double most_ulps) {
  const std::vector<C> arguments = Arguments<C, Bits>();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const C y = arguments[i];
    for (const C x : {y / 3, arguments[i * 7 % arguments.size()]}) {
      const long double exact = std::atan2((long double){y}, (long double){x});
      const C rounded = static_cast<C>(exact);
      if (!std::isnormal(rounded)) continue;
      int exponent;
      std::frexp(rounded, &exponent);
      const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<C>::digits);
      ASSERT_LE(std::fabs(VectorArctan2(y, x) - exact) / ulp, most_ulps) << y << " and " << x;
    }
  }
  const C inf = std::numeric_limits<C>::infinity(), nan = std::numeric_limits<C>::quiet_NaN();
  for (const C y : {C{0}, -C{0}, C{2}, C{-2}, inf, -inf, nan}) {
    for (const C x : {C{0}, -C{0}, C{2}, C{-2}, inf, -inf, nan}) {
      const C exact = std::atan2(y, x), angle = VectorArctan2(y, x);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(angle)) << y << " and " << x;
        continue;
      }
      EXPECT_NEAR(angle, exact, 4 * std::numeric_limits<C>::epsilon()) << y << " and " << x;
      EXPECT_EQ(std::signbit(angle), std::signbit(exact)) << y << " and " << x;
    }
  }
}

TEST(VectorArctan2Test, IsAccurateAtEveryLevel) {
  ForEachCpuLevel([] {
    RunAtCpuLevel([] {
      ExpectAccurateArctan2<float, uint32_t>(3);
      ExpectAccurateArctan2<double, uint64_t>(3);
    });
  });
}

TEST(VectorHypotTest, IsAccurateAtEveryLevel) {
  ForEachCpuLevel([] {
    RunAtCpuLevel([] {
      ExpectAccurateHypot<float, uint32_t>();
      ExpectAccurateHypot<double, uint64_t>();
    });
  });
  EXPECT_EQ(VectorHypot(kInf, kNan), kInf);
  EXPECT_EQ(VectorHypot(double{kNan}, -double{kInf}), kInf);
  EXPECT_TRUE(std::isnan(VectorHypot(kNan, 1.0f)) && std::isnan(VectorHypot(1.0, double{kNan})));
  EXPECT_EQ(VectorHypot(0.0, -0.0), 0.0);
}

// Checks the inverse of erf by Newton's correction in long double, with an error in units of the
// last place of C.
template <typename C>
void ExpectErfInv(const std::vector<C>& arguments, double most_ulps) {
  for (const C y : arguments) {
    const double x = VectorErfInv(y);
    const long double wide = x, exact_y = y;
    const long double error =
        (y < C{0.5} ? std::erf(wide) - exact_y : 1 - exact_y - std::erfc(wide)) *
        0.886226925452758013649L * std::exp(wide * wide);
    int exponent;
    std::frexp(x, &exponent);
    const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<C>::digits);
    EXPECT_LE(std::fabs(error), most_ulps * ulp) << y;
    EXPECT_EQ(VectorErfInv(-y), -x) << y;
  }
  EXPECT_EQ(VectorErfInv(C{0}), 0.0);
  EXPECT_TRUE(std::signbit(VectorErfInv(-C{0})));
  EXPECT_EQ(VectorErfInv(C{1}), kInf);
  EXPECT_EQ(VectorErfInv(C{-1}), -kInf);
  EXPECT_TRUE(std::isnan(VectorErfInv(C{1.5})) && std::isnan(VectorErfInv(C{kNan})));
}

// Returns numbers in (0, 1): with every exponent, as near to 1, and evenly spaced.
template <typename C, typename Bits>
std::vector<C> ErfInvArguments() {
  std::vector<C> arguments;
  for (const C x : Arguments<C, Bits>()) {
    if (!(x >= std::numeric_limits<C>::min() && x < 1)) continue;
    arguments.push_back(x);
    if (C{1} - x < 1) arguments.push_back(C{1} - x);
  }
  for (int i = 1; i < 20'000; ++i) arguments.push_back(static_cast<C>(i) / 20'000);
  return arguments;
}

TEST(VectorErfInvTest, IsAccurateAtEveryLevel) {
  const std::vector<float> of32 = ErfInvArguments<float, uint32_t>();
  const std::vector<double> of64 = ErfInvArguments<double, uint64_t>();
  ForEachCpuLevel([&] {
    RunAtCpuLevel([&] {
      ExpectErfInv(of32, 1);
      ExpectErfInv(of64, 4);
    });
  });
}

// Checks that no intermediate value overflows in a way that reaches the result.
TEST(VectorMathLimitsTest, AnyFloatHasAResult) {
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 1009) {
    const float x = std::bit_cast<float>(bits);
    EXPECT_GE(VectorExp(-x), 0.0f) << x;
    EXPECT_GE(VectorExp(x), 1.0f) << x;
    EXPECT_LE(VectorExpOfNonPositive(-x), 1.0f) << x;
    EXPECT_LE(VectorSigmoid(-x), 0.5f) << x;
    EXPECT_GE(VectorSigmoid(x), 0.5f) << x;
    EXPECT_LE(std::abs(VectorTanh(x)), 1.0f) << x;
  }
  EXPECT_EQ(VectorSigmoid(-17443600.0f), 0.0f);  // n is the largest int32_t
}

TEST(VectorMathLimitsTest, Limits) {
  EXPECT_EQ(VectorExp(0.0f), 1.0f);
  EXPECT_EQ(VectorExp(kInf), kInf);
  EXPECT_EQ(VectorExp(89.0f), kInf);
  EXPECT_EQ(VectorExp(-kInf), 0.0f);
  EXPECT_NEAR(VectorExp(-100.0f), 3.8e-44f, 3e-45f);  // subnormal
  EXPECT_TRUE(std::isnan(VectorExp(kNan)));
  EXPECT_EQ(VectorTanh(kInf), 1.0f);
  EXPECT_EQ(VectorTanh(-kInf), -1.0f);
  EXPECT_TRUE(std::signbit(VectorTanh(-0.0f)));
  EXPECT_TRUE(std::isnan(VectorTanh(kNan)));
  EXPECT_EQ(VectorSigmoid(kInf), 1.0f);
  EXPECT_EQ(VectorSigmoid(-kInf), 0.0f);
  EXPECT_EQ(VectorExpOfNonPositive(-kInf), 0.0f);
  EXPECT_EQ(VectorExpOfNonPositive(0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(VectorExpOfNonPositive(kNan)));
  EXPECT_TRUE(std::isnan(VectorSigmoid(kNan)));
}

}  // namespace
}  // namespace cooper
