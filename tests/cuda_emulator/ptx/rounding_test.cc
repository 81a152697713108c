#include "tests/cuda_emulator/ptx/rounding.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace cooper::ptx {
namespace {

TEST(RoundingTest, EveryHalfIsItself) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const float value = ToFloat(half);
    if (std::isnan(value)) continue;
    EXPECT_EQ(HalfOf(value).bits, bits);
    EXPECT_EQ(RoundTo(kHalfFormat, static_cast<double>(value), Rounding::kUp), bits);
    EXPECT_EQ(RoundTo(kHalfFormat, static_cast<double>(value), Rounding::kZero), bits);
  }
}

TEST(RoundingTest, EveryBfloatIsItself) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Bfloat bfloat{static_cast<uint16_t>(bits)};
    const float value = ToFloat(bfloat);
    if (std::isnan(value)) continue;
    EXPECT_EQ(BfloatOf(value).bits, bits);
    EXPECT_EQ(RoundTo(kBfloatFormat, static_cast<double>(value), Rounding::kDown), bits);
  }
}

// Tests a quarter, the middle and three quarters between neighbours.
TEST(RoundingTest, BetweenHalves) {
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = static_cast<double>(ToFloat(Half{bits}));
    const double high = static_cast<double>(ToFloat(Half{static_cast<uint16_t>(bits + 1)}));
    const uint32_t up = bits + 1u;
    const double middle = (low + high) / 2;
    EXPECT_EQ(RoundTo(kHalfFormat, middle, Rounding::kNearest), bits % 2 == 0 ? bits : up);
    EXPECT_EQ(HalfOf(static_cast<float>(middle)).bits, bits % 2 == 0 ? bits : up);
    EXPECT_EQ(RoundTo(kHalfFormat, middle, Rounding::kNearestAway), up);
    EXPECT_EQ(RoundTo(kHalfFormat, std::nextafter(middle, 0), Rounding::kNearestAway), bits);
    EXPECT_EQ(RoundTo(kHalfFormat, std::nextafter(middle, 1e9), Rounding::kNearest), up);
    EXPECT_EQ(RoundTo(kHalfFormat, middle, Rounding::kZero), bits);
    EXPECT_EQ(RoundTo(kHalfFormat, middle, Rounding::kDown), bits);
    EXPECT_EQ(RoundTo(kHalfFormat, middle, Rounding::kUp), up);
    EXPECT_EQ(RoundTo(kHalfFormat, -middle, Rounding::kDown), 0x8000 | up);
    EXPECT_EQ(RoundTo(kHalfFormat, -middle, Rounding::kUp), 0x8000u | bits);
  }
}

TEST(RoundingTest, FarBelowTheLeastNumber) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(RoundTo(kHalfFormat, tiny, Rounding::kNearest), 0u);
  EXPECT_EQ(RoundTo(kHalfFormat, tiny, Rounding::kUp), 1u);
  EXPECT_EQ(RoundTo(kHalfFormat, -tiny, Rounding::kDown), 0x8001u);
  EXPECT_EQ(RoundTo(kHalfFormat, -tiny, Rounding::kNearest), 0x8000u);
}

TEST(RoundingTest, TheHostsRoundingComesBack) {
  const auto third = [] { return Opaque(Opaque(1.0f) / Opaque(3.0f)); };
  const float nearest = third();
  {
    const ScopedRounding down(Rounding::kDown);
    EXPECT_LT(third(), nearest);
  }
  EXPECT_EQ(third(), nearest);
}

TEST(RoundingTest, OddIsExactAfterwards) {
  // 1 + 2^-8 + 2^-133 is above the middle of two bfloats by an amount that double cannot hold.
  EXPECT_EQ(RoundTo(kBfloatFormat, FmaToOdd(1, 0x1p-133, 1 + 0x1p-8), Rounding::kNearest), 0x3f81u);
  EXPECT_EQ(RoundTo(kBfloatFormat, FmaToOdd(1, -0x1p-133, 1 + 0x1p-8), Rounding::kNearest),
            0x3f80u);
}

}  // namespace
}  // namespace cooper::ptx
