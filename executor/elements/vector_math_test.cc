#include "executor/elements/vector_math.h"

#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "ndarray/cpu_level.h"
#include "ndarray/each_cpu_level.h"

namespace cooper {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The largest relative error over every 1009th float of [low, high], both signs of zero included,
// at any CpuLevel.
template <typename Fast, typename Exact>
double LargestError(float low, float high, Fast fast, Exact exact) {
  double largest = 0;
  auto check = [&](float x) {
    const double expected = exact(static_cast<double>(x));
    const double error = std::abs(fast(x) - expected) / std::abs(expected);
    if (expected != 0 && error > largest) largest = error;
  };
  ForEachCpuLevel([&] {
    RunAtCpuLevel([&] {
      for (uint32_t bits = 0; bits < 0x7f800000u; bits += 1009) {
        const float x = std::bit_cast<float>(bits);
        if (x >= low && x <= high) check(x);
        if (-x >= low && -x <= high) check(-x);
      }
    });
  });
  return largest;
}

TEST(VectorMathTest, ExpIsAccurateWhereItIsNormal) {
  EXPECT_LT(LargestError(
                -87.0f, 88.7f, [](float x) { return VectorExp(x); },
                [](double x) { return std::exp(x); }),
            2e-7);
}

TEST(VectorMathTest, TanhIsAccurate) {
  EXPECT_LT(LargestError(
                -50.0f, 50.0f, [](float x) { return VectorTanh(x); },
                [](double x) { return std::tanh(x); }),
            2e-7);
}

TEST(VectorMathTest, SigmoidIsAccurate) {
  EXPECT_LT(LargestError(
                -87.0f, 87.0f, [](float x) { return VectorSigmoid(x); },
                [](double x) { return 1 / (1 + std::exp(-x)); }),
            4e-7);
}

TEST(VectorMathTest, Expm1OfNonPositiveIsAccurate) {
  EXPECT_LT(LargestError(
                -200.0f, 0.0f, [](float x) { return VectorExpm1OfNonPositive(x); },
                [](double x) { return std::expm1(x); }),
            2e-7);
  EXPECT_TRUE(std::isnan(VectorExpm1OfNonPositive(kNan)));
  EXPECT_EQ(VectorExpm1OfNonPositive(-kInf), -1.0f);
}

TEST(VectorMathTest, ExpOfNonPositiveIsAccurateWhereItIsNormal) {
  EXPECT_LT(LargestError(
                -87.0f, 0.0f, [](float x) { return VectorExpOfNonPositive(x); },
                [](double x) { return std::exp(x); }),
            2e-7);
}

// Nothing overflows on the way to what is replaced at the end.
TEST(VectorMathTest, AnyFloatHasAResult) {
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

TEST(VectorMathTest, Limits) {
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
