#include "executor/kernels/loops/vector_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "executor/kernels/loops/vector_cbrt.h"
#include "executor/kernels/loops/vector_erf.h"
#include "executor/kernels/loops/vector_hyperbolic.h"
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
};

#define COOPER_BOTH(Name) [](float x) { return Name(x); }, [](double x) { return Name(x); }
#define COOPER_EXACT(value) [](long double x) -> long double { return value; }

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
    {"Cbrt", COOPER_BOTH(VectorCbrt), COOPER_EXACT(std::cbrt(x)), 1, 1.5},
    {"Erf", COOPER_BOTH(VectorErf), COOPER_EXACT(std::erf(x)), 1.5, 1.5},
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
  std::frexp(rounded, &exponent);
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

TEST(VectorPowTest, IsTheCLibrarys) {
  const float special[] = {0.0f,  -0.0f,  1.0f,        -1.0f,       kInf,  -kInf, kNan,
                           2.0f,  -2.0f,  0.5f,        -0.5f,       3.0f,  -3.0f, 2.5f,
                           1e30f, -1e30f, 16777216.0f, 16777217.0f, 1e-40f};
  for (const float x : special) {
    for (const float y : special) {
      const float exact = std::pow(x, y), power = VectorPow(x, y);
      EXPECT_TRUE(std::isnan(exact) ? std::isnan(power) : power == exact) << x << " to the " << y;
      if (!std::isnan(exact)) {
        EXPECT_EQ(std::signbit(power), std::signbit(exact)) << x << " to the " << y;
      }
    }
  }
}

// The error of the inverse, in units of the last place of float, by Newton's correction in long
// double.
TEST(VectorErfInvTest, HasTheDigitsOfFloat) {
  std::vector<float> arguments = {0x1p-149f, 1e-30f,       1e-8f,       1e-7f,
                                  1e-4f,     1 - 0x1p-24f, 1 - 0x1p-23f};
  for (int i = 1; i < 20'000; ++i) arguments.push_back(static_cast<float>(i) / 20'000);
  ForEachCpuLevel([&] {
    RunAtCpuLevel([&] {
      for (const float y : arguments) {
        const double x = VectorErfInv(y);
        const long double wide = x;
        const long double error = (y < 0.5f ? std::erf(wide) - y : 1 - y - std::erfc(wide)) *
                                  0.886226925452758013649L * std::exp(wide * wide);
        EXPECT_LE(std::fabs(error), 2.5L * 0x1p-24L * wide) << y;
        EXPECT_EQ(VectorErfInv(-y), -x) << y;
      }
    });
  });
  EXPECT_EQ(VectorErfInv(0.0f), 0.0);
  EXPECT_TRUE(std::signbit(VectorErfInv(-0.0f)));
  EXPECT_EQ(VectorErfInv(1.0f), kInf);
  EXPECT_EQ(VectorErfInv(-1.0f), -kInf);
  EXPECT_TRUE(std::isnan(VectorErfInv(1.5f)) && std::isnan(VectorErfInv(kNan)));
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
