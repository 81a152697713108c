#include "executor/kernels/loops/special_functions.h"

#include <cmath>
#include <numbers>

#include "gtest/gtest.h"

namespace cooper {
namespace {

TEST(SpecialFunctionsTest, DigammaAtKnownPoints) {
  EXPECT_NEAR(Digamma(1), -std::numbers::egamma, 1e-14);
  EXPECT_NEAR(Digamma(2), 1 - std::numbers::egamma, 1e-14);
  EXPECT_NEAR(Digamma(0.5), -std::numbers::egamma - 2 * std::numbers::ln2, 1e-14);
  EXPECT_NEAR(Digamma(-0.5), Digamma(0.5) + 2, 1e-13);
  EXPECT_TRUE(std::isnan(Digamma(-3)));
  EXPECT_TRUE(std::isinf(Digamma(0)));
}

TEST(SpecialFunctionsTest, DigammaIsTheSlopeOfLogGamma) {
  constexpr double kStep = 1e-5;
  for (double x = -4.85; x < 30; x += 0.3) {
    const double slope = (std::lgamma(x + kStep) - std::lgamma(x - kStep)) / (2 * kStep);
    EXPECT_NEAR(Digamma(x), slope, 1e-6 * (1 + slope * slope)) << x;
  }
}

TEST(SpecialFunctionsTest, ErfInvUndoesErf) {
  for (double x = -5; x <= 5; x += 0.01) {
    const double y = std::erf(x);
    // An error of half a unit in the last place of y changes x by this much.
    const double tolerance = 2e-16 / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    EXPECT_NEAR(ErfInv(y), x, tolerance + 1e-14) << x;
  }
  EXPECT_NEAR(ErfInv(1e-300), 0.5 / std::numbers::inv_sqrtpi * 1e-300, 1e-312);
  EXPECT_EQ(ErfInv(0), 0);
  EXPECT_TRUE(std::isinf(ErfInv(1)));
  EXPECT_TRUE(std::isinf(ErfInv(-1)));
  EXPECT_TRUE(std::isnan(ErfInv(1.5)));
}

}  // namespace
}  // namespace cooper
