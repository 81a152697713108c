#include "ndarray/random/random_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/array/fill.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/fill_random.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/each_cpu_level.h"

namespace cooper {
namespace {

// Returns random bits to test: the numbers around each eighth of the range, the limits included,
// and random ones.
std::vector<uint32_t> Bits() {
  std::vector<uint32_t> bits;
  for (uint32_t i = 0; i < 1000; ++i) {
    bits.push_back(i);
    bits.push_back(~i);
    bits.push_back(0x20000000u * (i % 8) + i / 8);
    bits.push_back(0x20000000u * (i % 8) - i / 8);
  }
  RandomGenerator random(3);
  for (int i = 0; i < 100000; ++i) bits.push_back(random.NextUint32());
  return bits;
}

TEST(RandomValuesTest, LogarithmsAreExactToTwoUnits) {
  for (const uint32_t bits : Bits()) {
    const long double expected = std::log((static_cast<long double>(bits) + 1) * 0x1p-32L);
    const auto rounded = static_cast<double>(expected);
    const double unit = std::abs(std::nextafter(rounded, -100) - rounded);
    ASSERT_LE(std::abs(LogOfFraction(bits) - expected), 2 * unit) << bits;
  }
  EXPECT_EQ(LogOfFraction(0xffffffffu), 0);
}

TEST(RandomValuesTest, CosinesAreExactToTwoUnits) {
  for (const uint32_t bits : Bits()) {
    const long double expected =
        std::cos(2 * std::numbers::pi_v<long double> * static_cast<long double>(bits) * 0x1p-32L);
    ASSERT_LE(std::abs(CosOfTurn(bits) - expected), 2 * 0x1p-53L) << bits;
  }
  EXPECT_EQ(CosOfTurn(0), 1);
  EXPECT_EQ(CosOfTurn(0x40000000u), 0);
  EXPECT_EQ(CosOfTurn(0x80000000u), -1);
}

std::vector<float> Filled(RandomType type, double scale, int64_t size) {
  const NDArray array = *NDArray::Empty({size});
  COOPER_EXPECT_OK(FillWithRandom({array.raw_data(), array.dtype(), size, array.context()}, type,
                                  scale, Philox(5, 7)));
  return *array.ToVector<float>();
}

TEST(FillRandomTest, NumbersHaveTheRangeAndMomentsOfTheirKind) {
  constexpr int64_t kSize = 100000;
  const auto moments = [](const std::vector<float>& values) {
    double mean = 0, square = 0;
    for (const float v : values) {
      mean += v / kSize;
      square += static_cast<double>(v) * v / kSize;
    }
    return std::pair(mean, square);
  };
  const std::vector<float> uniform = Filled(RandomType::kUniform, 0.25, kSize);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), -0.25F);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 0.25F);
  // Five deviations of the mean, and of the mean square.
  const auto [mean, square] = moments(uniform);
  EXPECT_NEAR(mean, 0, 5 * 0.25 / std::sqrt(3.0 * kSize));
  EXPECT_NEAR(square, 0.0625 / 3, 5 * 0.0625 * std::sqrt(4.0 / 45 / kSize));
  const auto [normal_mean, normal_square] = moments(Filled(RandomType::kGaussian, 2, kSize));
  EXPECT_NEAR(normal_mean, 0, 5 * 2 / std::sqrt(1.0 * kSize));
  EXPECT_NEAR(normal_square, 4, 5 * 4 * std::sqrt(2.0 / kSize));
}

TEST(FillRandomTest, EveryCpuLevelHasTheSameBits) {
  for (const RandomType type : {RandomType::kUniform, RandomType::kGaussian}) {
    std::vector<std::vector<float>> all;
    ForEachCpuLevel([&] { all.push_back(Filled(type, 0.3, 100003)); });
    for (const std::vector<float>& values : all) EXPECT_EQ(values, all[0]);
  }
}

TEST(FillRandomTest, OtherDTypesAreConverted) {
  const std::vector<float> floats = Filled(RandomType::kGaussian, 1, 100);
  for (const DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
    const NDArray array = *NDArray::Empty({100}, dtype);
    COOPER_ASSERT_OK(FillWithRandom({array.raw_data(), dtype, 100, array.context()},
                                    RandomType::kGaussian, 1, Philox(5, 7)));
    const NDArray expected = *NDArray::FromVector<float>({100}, floats)->AsType(dtype);
    EXPECT_EQ(*array.ToVector<double>(), *expected.ToVector<double>()) << DTypeName(dtype);
  }
}

TEST(FillTest, ADeviceThatIsNotLinkedIsNamed) {
  char byte = 0;
  const FillTarget target{&byte, DType::kUint8, 1, Context::Gpu(1)};
  const auto missing =
      StatusIs(absl::StatusCode::kUnimplemented, testing::HasSubstr("gpu(1): this program"));
  EXPECT_THAT(Fill(target, 1), missing);
  EXPECT_THAT(FillWithRandom(target, RandomType::kUniform, 1, Philox()), missing);
}

}  // namespace
}  // namespace cooper
