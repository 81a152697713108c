// Tests the ends of int8 layers: factors, terms, limits, rounding, and results that are no numbers.

#include "executor/kernels/quantized/int8_end.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace cooper {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Int8EndTest, ScalesAddsAndLimits) {
  const Int8End<float> end = {.negative = 0.5F, .limit = 6, .addend_factor = 2};
  EXPECT_EQ(end.At(3, 0.25F, 1, 0), 1.75F);
  EXPECT_EQ(end.At(3, 0.25F, 1, 2), 5.75F);
  EXPECT_EQ(end.At(-4, 1, 0, 0), -2);
  EXPECT_EQ(end.At(100, 1, 0, 0), 6);
}

TEST(Int8EndTest, RoundsToTheNearestIntegerThatTheTypeHolds) {
  EXPECT_EQ(Int8End<int8_t>().At(5, 0.5F, 0, 0), 2);
  EXPECT_EQ(Int8End<int8_t>().At(1000, 1, 0, 0), 127);
  EXPECT_EQ(Int8End<uint8_t>().At(-3, 1, 0, 0), 0);
  EXPECT_EQ(Int8End<int32_t>().At(2147483647, 1, 0, 0), 2147483647);
}

TEST(Int8EndTest, KeepsNan) {
  EXPECT_TRUE(std::isnan(Int8End<float>().At(1, 1, kNan, 0)));
  EXPECT_TRUE(std::isnan(Int8End<float>{.limit = 6}.At(1, 1, kNan, 0)));
  EXPECT_EQ(Int8End<int8_t>().At(1, 1, kNan, 0), -128);
}

}  // namespace
}  // namespace cooper
