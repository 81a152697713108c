#include "tests/conformance/case_data.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Tolerance kTolerance = {.rtol = 0.1, .atol = 0.5};

TEST(ToleranceTest, MatchesAsNumPyDoes) {
  EXPECT_TRUE(kTolerance.Matches(10, 10));
  EXPECT_TRUE(kTolerance.Matches(11.5, 10));
  EXPECT_FALSE(kTolerance.Matches(11.6, 10));
  EXPECT_FALSE(kTolerance.Matches(8.4, 10));
  EXPECT_TRUE(kTolerance.Matches(0.5, 0));
  EXPECT_TRUE(kTolerance.Matches(kNan, kNan));
  EXPECT_FALSE(kTolerance.Matches(kNan, 1));
  EXPECT_FALSE(kTolerance.Matches(1, kNan));
  EXPECT_TRUE(kTolerance.Matches(kInf, kInf));
  EXPECT_FALSE(kTolerance.Matches(-kInf, kInf));
  EXPECT_FALSE(kTolerance.Matches(1e300, kInf));
  EXPECT_FALSE(kTolerance.Matches(kInf, 1e300));
}

template <typename T>
NDArray Array(Shape shape, std::vector<T> values) {
  return *NDArray::FromVector(std::move(shape), values);
}

TEST(CompareArraysTest, SaysWhatDiffers) {
  const NDArray expected = Array<float>({2, 2}, {1, 2, 3, 4});
  COOPER_EXPECT_OK(CompareArrays("x", Array<float>({2, 2}, {1, 2, 3, 4.5f}), expected, kTolerance));
  EXPECT_THAT(
      CompareArrays("x", Array<float>({2, 2}, {1, 4, 3, 9}), expected, kTolerance),
      StatusIs(absl::StatusCode::kUnknown, AllOf(HasSubstr("x (2, 2): 2 of 4 elements differ"),
                                                 HasSubstr("worst at 3: got 9, expected 4"))));
  EXPECT_THAT(CompareArrays("x", Array<float>({4}, {1, 2, 3, 4}), expected, kTolerance),
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("is (4,) float32")));
  EXPECT_THAT(CompareArrays("x", Array<double>({2, 2}, {1, 2, 3, 4}), expected, kTolerance),
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("float64")));
  EXPECT_THAT(CompareArrays("x", NDArray(), expected, kTolerance),
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("null array")));
  EXPECT_FALSE(
      CompareArrays("x", Array<float>({1}, {NAN}), Array<float>({1}, {0}), kTolerance).ok());
}

TEST(CompareArraysTest, ComparesIntegersExactly) {
  const int64_t big = (int64_t{1} << 53) + 1;  // rounds to its neighbour as a double
  EXPECT_FALSE(CompareArrays("x", Array<int64_t>({1}, {big}), Array<int64_t>({1}, {big - 1}),
                             {.rtol = 0, .atol = 0})
                   .ok());
}

TEST(FromJsonTest, ShapesAndNumbers) {
  EXPECT_EQ(ShapeFromJson(Json::parse("[2, 0]")), (PartialShape{2, kUnknownDim}));
  EXPECT_EQ(ShapeFromJson(Json::parse("[]")), PartialShape());
  EXPECT_EQ(ShapeFromJson(Json()), PartialShape());
  EXPECT_EQ(ShapeFromJson(Json("()")), PartialShape(Shape()));
  EXPECT_EQ(ShapeFromJson(Json("(2, 0)")), (PartialShape{2, 0}));
  EXPECT_TRUE(std::isnan(NumberFromJson("nan")));
  EXPECT_EQ(NumberFromJson("-inf"), -kInf);
  EXPECT_EQ(NumberFromJson(2.5), 2.5);
}

}  // namespace
}  // namespace cooper::conformance
