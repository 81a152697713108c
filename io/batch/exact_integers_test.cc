#include "io/batch/exact_integers.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/ragged_array.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(CheckExactInTest, FindsTheFirstValueThatChanges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const struct {
    DType from, to;
    double exact, wrong;
    const char* text;
  } cases[] = {
      {DType::kInt32, DType::kFloat32, 1 << 24, (1 << 24) + 1, "16777217"},
      {DType::kInt64, DType::kInt32, -5, 0x1p40, "1099511627776"},
      {DType::kInt32, DType::kFloat16, 2048, 2049, "2049"},
      {DType::kFloat64, DType::kFloat32, 0.1, (1 << 24) + 1, "16777217"},
      {DType::kFloat64, DType::kFloat32, kInfinity, 1e300, "1.0000000000000001e+300"},
      {DType::kFloat64, DType::kFloat32, std::nan(""), 0x1p24 + 3, "16777219"},
      {DType::kFloat32, DType::kFloat16, 0.3, 1e6, "1000000"},
      {DType::kFloat32, DType::kInt32, -3, 0.5, "0.5"},
      {DType::kFloat32, DType::kInt32, 7, std::nan(""), "nan"},
      {DType::kFloat32, DType::kInt32, 0x1p30, 0x1p31, "2147483648"},
      {DType::kFloat64, DType::kInt64, -0x1p63, 0x1p63, "9.2233720368547758e+18"},
      {DType::kFloat32, DType::kUint8, 255, -1, "-1"},
      {DType::kFloat32, DType::kBool, 1, 2, "2"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(absl::StrCat(DTypeName(c.from), " to ", DTypeName(c.to), " of ", c.text));
    const auto array = [&](double last) {
      return *NDArray::FromVector<double>({3, 2}, {0, 1, c.exact, 1, last, 0})->AsType(c.from);
    };
    COOPER_EXPECT_OK(CheckExactIn(array(c.exact), c.to));
    EXPECT_THAT(CheckExactIn(array(c.wrong), c.to),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("row 2 of (3, 2) ", DTypeName(c.from),
                                                " cpu(0) has the value ", c.text, ", which ",
                                                DTypeName(c.to), " does not hold"))));
  }
  COOPER_EXPECT_OK(CheckExactIn(NDArray(), DType::kInt8));
}

TEST(CheckIntegersAreExactTest, FindsTheFirstThatIsRounded) {
  const struct {
    DType dtype;
    int64_t exact;
    int64_t wrong;
  } cases[] = {
      {DType::kFloat16, 2048, 2049},
      {DType::kFloat16, 4100, 65536},
      {DType::kBfloat16, -256, -257},
      {DType::kFloat32, 1 << 24, (1 << 24) + 1},
      {DType::kFloat64, int64_t{1} << 53, (int64_t{1} << 53) + 1},
      {DType::kFloat64, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()},
      {DType::kUint8, 255, 256},
      {DType::kUint8, 0, -1},
      {DType::kInt8, -128, -129},
      {DType::kInt32, std::numeric_limits<int32_t>::max(), int64_t{1} << 31},
      {DType::kBool, 1, 2},
  };
  for (const auto& c : cases) {
    const std::vector<std::vector<int64_t>> exact = {{}, {1, c.exact}};
    COOPER_EXPECT_OK(CheckIntegersAreExact(exact, c.dtype));
    const std::vector<std::vector<int64_t>> wrong = {{1}, {c.exact, c.wrong, c.wrong}};
    EXPECT_THAT(CheckIntegersAreExact(wrong, c.dtype),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("sample 1 has the value ", c.wrong, ", which ",
                                                DTypeName(c.dtype), " does not hold"))));
  }
  COOPER_EXPECT_OK(
      CheckIntegersAreExact(std::vector<std::vector<int64_t>>{{INT64_MAX}}, DType::kInt64));
}

TEST(CheckIntegersAreExactTest, LeavesOtherValuesAlone) {
  COOPER_EXPECT_OK(CheckIntegersAreExact(std::vector<float>{0.1f, 1e6f}, DType::kFloat16));
  COOPER_EXPECT_OK(CheckIntegersAreExact(RaggedArray(), DType::kFloat16));
  COOPER_EXPECT_OK(
      CheckIntegersAreExact(*NDArray::Full({2, 3}, 255, DType::kUint8), DType::kBfloat16));
}

TEST(IsExactInTest, AsksOfFloatsOnlyWhetherTheyHoldIntegers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const struct {
    DType dtype;
    double value;
    bool is_exact;
  } cases[] = {
      {DType::kUint8, 255, true},
      {DType::kUint8, -1, false},
      {DType::kInt8, -128, true},
      {DType::kInt8, 300, false},
      {DType::kInt32, -1, true},
      {DType::kInt32, 0x1p31, false},
      {DType::kInt64, 0x1p53, true},
      {DType::kInt64, kInfinity, false},
      {DType::kInt32, 0.5, false},
      {DType::kInt32, std::nan(""), false},
      {DType::kBool, 1, true},
      {DType::kBool, 2, false},
      {DType::kFloat16, 2048, true},
      {DType::kFloat16, -2049, false},
      {DType::kFloat16, 1e5, false},
      {DType::kBfloat16, 257, false},
      {DType::kFloat32, 0x1p24 + 1, false},
      {DType::kFloat64, 0x1p24 + 1, true},
      {DType::kFloat32, 0.1, true},
      {DType::kFloat32, -1e30, true},
      {DType::kFloat32, -kInfinity, true},
      {DType::kFloat32, std::nan(""), true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(IsExactIn(c.dtype, c.value), c.is_exact) << DTypeName(c.dtype) << ' ' << c.value;
  }
}

}  // namespace
}  // namespace cooper
