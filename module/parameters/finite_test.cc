#include "module/parameters/finite.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(FiniteTest, FindsOneElementWhereverItIs) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
    SCOPED_TRACE(DTypeName(dtype));
    // The largest value that all these dtypes can hold. One element, in any thread's part, is then
    // replaced.
    const NDArray array = *NDArray::Full({100003}, 65504, dtype);
    EXPECT_THAT(IsFinite(array), IsOkAndHolds(true));
    for (double value : {std::nan(""), kInfinity, -kInfinity}) {
      for (int64_t at : {0, 77, 50000, 100002}) {
        const NDArray copy = *array.Copy();
        ASSERT_TRUE(copy.Slice(at, at + 1)->Fill(value).ok());
        EXPECT_THAT(IsFinite(copy), IsOkAndHolds(false)) << value << " at " << at;
        const NonFiniteElements found = *CountNonFinite(copy);
        EXPECT_EQ(found.count, 1);
        EXPECT_EQ(found.first, at);
      }
    }
  }
}

TEST(FiniteTest, SmallAndLargeNumbersAreFinite) {
  const auto limits = std::numeric_limits<float>();
  const NDArray array = *NDArray::FromVector<float>(
      {5}, {0.0f, -0.0f, limits.denorm_min(), limits.max(), limits.lowest()});
  EXPECT_THAT(IsFinite(array), IsOkAndHolds(true));
  EXPECT_EQ(CountNonFinite(array)->count, 0);
}

TEST(FiniteTest, OneCheckLooksAtManyArrays) {
  COOPER_ASSERT_OK_AND_ASSIGN(FiniteCheck check, FiniteCheck::Create(Context::Cpu()));
  const std::vector<NDArray> arrays = {*NDArray::Full({3}, 1), NDArray(),
                                       *NDArray::Full({2}, 0x7f800000, DType::kInt32),
                                       *NDArray::Full({2, 5}, 2, DType::kFloat16)};
  for (const double value : {2.0, std::nan(""), kInfinity, 3.0}) {
    COOPER_ASSERT_OK(arrays[3].Slice(1, 2)->Fill(value));
    COOPER_ASSERT_OK(check.EnqueueFn(arrays, /*queue=*/nullptr));
    EXPECT_THAT(check.AllFinite(), IsOkAndHolds(std::isfinite(value))) << value;
  }
  COOPER_ASSERT_OK(check.EnqueueFn({}, /*queue=*/nullptr));
  EXPECT_THAT(check.AllFinite(), IsOkAndHolds(true));
}

TEST(FiniteTest, NothingAndIntegersAreFinite) {
  EXPECT_THAT(IsFinite(NDArray()), IsOkAndHolds(true));
  EXPECT_THAT(IsFinite(*NDArray::Zeros({0, 3})), IsOkAndHolds(true));
  EXPECT_THAT(IsFinite(*NDArray::Full({3}, 0x7f800000, DType::kInt32)), IsOkAndHolds(true));
}

}  // namespace
}  // namespace cooper
