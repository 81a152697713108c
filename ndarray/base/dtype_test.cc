#include "ndarray/base/dtype.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/float16.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct DTypeCase {
  DType dtype;
  int code;
  const char* name;
  int64_t size;
  bool floating;
};

const DTypeCase kDTypes[] = {
    {DType::kFloat32, 0, "float32", 4, true},    {DType::kFloat64, 1, "float64", 8, true},
    {DType::kFloat16, 2, "float16", 2, true},    {DType::kUint8, 3, "uint8", 1, false},
    {DType::kInt32, 4, "int32", 4, false},       {DType::kInt8, 5, "int8", 1, false},
    {DType::kInt64, 6, "int64", 8, false},       {DType::kBool, 7, "bool", 1, false},
    {DType::kBfloat16, 12, "bfloat16", 2, true},
};

TEST(DTypeTest, CodesNamesAndSizes) {
  for (const DTypeCase& c : kDTypes) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(DTypeFromCode(c.code), IsOkAndHolds(c.dtype));
    EXPECT_THAT(DTypeFromName(c.name), IsOkAndHolds(c.dtype));
    EXPECT_STREQ(DTypeName(c.dtype), c.name);
    EXPECT_EQ(SizeOf(c.dtype), c.size);
    EXPECT_EQ(IsFloating(c.dtype), c.floating);
    // The dispatched element type is that of the dtype.
    EXPECT_EQ(
        DispatchDType(c.dtype, [](auto tag) { return DTypeOf<typename decltype(tag)::type>(); }),
        c.dtype);
  }
}

TEST(DTypeTest, RefusesOthers) {
  for (int64_t code : {-1, 8, 9, 11, 13, 1 << 30}) {
    EXPECT_THAT(DTypeFromCode(code),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::to_string(code))));
  }
  EXPECT_THAT(DTypeFromName("float"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'float'")));
}

// Returns the value of a binary16's bits, from its definition.
double Float16Value(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Float16Test, EveryValueGoesToFloatAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half = Float16::FromBits(static_cast<uint16_t>(bits));
    const float value = static_cast<float>(half);
    const double expected = Float16Value(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Float16(value)))) << bits;
      continue;
    }
    ASSERT_EQ(value, expected) << bits;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    ASSERT_EQ(Float16(value).bits(), bits);
  }
}

TEST(Float16Test, RoundsToNearestAndTiesToEven) {
  // Checks the middle between each two neighbours, and the floats next to the middle on both sides.
  // The neighbour above the largest finite number counts as 65536.
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = Float16Value(static_cast<uint16_t>(bits));
    const double high = bits == 0x7bff ? 65536 : Float16Value(static_cast<uint16_t>(bits + 1));
    const float middle = static_cast<float>((low + high) / 2);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(Float16(middle).bits(), even) << bits;
    ASSERT_EQ(Float16(std::nextafter(middle, 0.0f)).bits(), bits);
    ASSERT_EQ(Float16(std::nextafter(middle, 1e9f)).bits(), bits + 1);
    ASSERT_EQ(Float16(-middle).bits(), even | 0x8000) << bits;
  }
  EXPECT_EQ(Float16(std::numeric_limits<float>::max()).bits(), 0x7c00);
  EXPECT_EQ(Float16(-std::numeric_limits<float>::infinity()).bits(), 0xfc00);
  EXPECT_EQ(Float16(std::numeric_limits<float>::denorm_min()).bits(), 0);
}

TEST(BFloat16Test, RoundsToNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const BFloat16 low = BFloat16::FromBits(static_cast<uint16_t>(bits));
    ASSERT_EQ(BFloat16(static_cast<float>(low)).bits(), bits);
    const uint32_t middle_bits = (bits << 16) | 0x8000u;
    float middle;
    std::memcpy(&middle, &middle_bits, sizeof(middle));
    ASSERT_EQ(BFloat16(middle).bits(), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(BFloat16(std::nextafter(middle, 0.0f)).bits(), bits);
    ASSERT_EQ(BFloat16(std::nextafter(middle, INFINITY)).bits(), bits + 1);
  }
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits(), 0x7f80);
  EXPECT_EQ(BFloat16(INFINITY).bits(), 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(NAN))));
  // This NaN has no mantissa bits in its upper half, so dropping the lower half would give
  // infinity.
  const uint32_t low_nan_bits = 0x7f800001u;
  float low_nan;
  std::memcpy(&low_nan, &low_nan_bits, sizeof(low_nan));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(low_nan))));
}

TEST(ConvertElementTest, ConvertsAsStaticCastDoes) {
  EXPECT_EQ(ConvertElement<int32_t>(2.9f), 2);
  EXPECT_EQ(ConvertElement<int32_t>(-2.9), -2);
  EXPECT_EQ(ConvertElement<bool>(0.5f), true);
  EXPECT_EQ(ConvertElement<float>(true), 1.0f);
  EXPECT_EQ(ConvertElement<int64_t>(Float16(3.5f)), 3);
  EXPECT_EQ(static_cast<float>(ConvertElement<Float16>(int8_t{-7})), -7.0f);
  EXPECT_EQ(static_cast<float>(ConvertElement<BFloat16>(Float16(1.5f))), 1.5f);
}

// Every float converts to some integer, so no value in a file causes undefined behaviour.
TEST(ConvertElementTest, GivesFloatsThatFitNoIntegerTheNearestEnd) {
  constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
  constexpr int32_t kGreatest32 = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest64 = std::numeric_limits<int64_t>::max();
  const struct {
    double value;
    int32_t as_int32;
    int64_t as_int64;
    int8_t as_int8;  // the int32's lowest byte
    uint8_t as_uint8;
  } kCases[] = {
      {-0.9, 0, 0, 0, 0},
      {-1, -1, -1, -1, 255},
      {300, 300, 300, 44, 44},
      {-200.5, -200, -200, 56, 56},
      {2147483647, kGreatest32, 2147483647, -1, 255},
      {2147483648, kGreatest32, 2147483648, -1, 255},
      {-2147483648, kMin32, -2147483648, 0, 0},
      {-2147483648.5, kMin32, -2147483648, 0, 0},
      {-2147483649, kMin32, -2147483649, 0, 0},
      {9223372036854774784, kGreatest32, 9223372036854774784, -1, 255},
      {9223372036854775808.0, kGreatest32, kGreatest64, -1, 255},
      {-9223372036854775808.0, kMin32, kMin64, 0, 0},
      {1e300, kGreatest32, kGreatest64, -1, 255},
      {INFINITY, kGreatest32, kGreatest64, -1, 255},
      {-INFINITY, kMin32, kMin64, 0, 0},
      {NAN, kMin32, kMin64, 0, 0},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ConvertElement<int32_t>(c.value), c.as_int32) << c.value;
    EXPECT_EQ(ConvertElement<int64_t>(c.value), c.as_int64) << c.value;
    EXPECT_EQ(ConvertElement<int8_t>(c.value), c.as_int8) << c.value;
    EXPECT_EQ(ConvertElement<uint8_t>(c.value), c.as_uint8) << c.value;
  }
  EXPECT_EQ(ConvertElement<int32_t>(2147483520.0f), 2147483520);
  EXPECT_EQ(ConvertElement<int32_t>(2147483648.0f), kGreatest32);
  EXPECT_EQ(ConvertElement<int32_t>(NAN), kMin32);
  EXPECT_EQ(ConvertElement<int32_t>(BFloat16(INFINITY)), kGreatest32);
  EXPECT_EQ(ConvertElement<bool>(NAN), true);
}

}  // namespace
}  // namespace cooper
