#include "executor/kernels/loops/convert.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

ArrayView ViewOf(const NDArray& array) {
  return {.data = array.raw_data(), .shape = array.shape(), .dtype = array.dtype()};
}

// 2^54 + 2^30 + 1 lies above the middle of two floats, and would lie on it once rounded to double.
constexpr int64_t kAboveTheMiddle = (int64_t{1} << 54) + (int64_t{1} << 30) + 1;

TEST(ConvertTest, Int64ToFloatRoundsOnce) {
  const NDArray numbers =
      *NDArray::FromVector<int64_t>({3}, {kAboveTheMiddle, -kAboveTheMiddle, 1});
  const NDArray floats = *NDArray::Full({3}, 2);
  ConvertArray(ViewOf(numbers), ViewOf(floats), WriteReq::kWrite);
  EXPECT_THAT(*floats.ToVector<float>(), ElementsAre(0x1.000002p54F, -0x1.000002p54F, 1));
  ConvertArray(ViewOf(numbers), ViewOf(floats), WriteReq::kAdd);
  EXPECT_THAT(*floats.ToVector<float>(), ElementsAre(0x1.000002p55F, -0x1.000002p55F, 2));
  EXPECT_EQ(*numbers.AsType(DType::kFloat32)->ToVector<float>(),
            (std::vector<float>{0x1.000002p54F, -0x1.000002p54F, 1}));
}

TEST(ConvertTest, Int64ToFloat64RoundsOnce) {
  const NDArray numbers = *NDArray::FromVector<int64_t>({1}, {(int64_t{1} << 53) + 1});
  const NDArray doubles = *NDArray::Zeros({1}, DType::kFloat64);
  ConvertArray(ViewOf(numbers), ViewOf(doubles), WriteReq::kWrite);
  EXPECT_THAT(*doubles.ToVector<double>(), ElementsAre(0x1p53));
}

}  // namespace
}  // namespace cooper
