#include "ndarray/base/shape.h"

#include <limits>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(ShapeTest, PrintsAsMXNetDoes) {
  EXPECT_EQ(Shape().ToString(), "()");
  EXPECT_EQ((Shape{2}).ToString(), "(2,)");
  EXPECT_EQ((Shape{2, 0, 3}).ToString(), "(2, 0, 3)");
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).num_elements(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).num_elements(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).Product(1, 3), 12);
  EXPECT_EQ((Shape{2, 3, 4}).Product(2, 2), 1);
}

TEST(ShapeTest, EditsExtents) {
  Shape shape = {2, 4};
  shape.insert(1, 3);
  shape.push_back(5);
  EXPECT_EQ(shape, (Shape{2, 3, 4, 5}));
  shape.erase(0);
  shape[0] = 7;
  EXPECT_EQ(shape, (Shape{7, 4, 5}));
  EXPECT_NE(shape, (Shape{7, 4}));
}

TEST(ShapeTest, CreateChecksExtents) {
  const int64_t big = int64_t{1} << 31;
  EXPECT_THAT(Shape::Create({2, 3}), IsOkAndHolds(Shape{2, 3}));
  EXPECT_THAT(Shape::Create({}), IsOkAndHolds(Shape()));
  EXPECT_THAT(Shape::Create({2, -3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("negative extent -3")));
  EXPECT_THAT(Shape::Create({big, big, big}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too many elements")));
  // The elements could be counted, but not their bytes.
  EXPECT_FALSE(Shape::Create({int64_t{1} << 60, 4}).ok());
  EXPECT_TRUE(Shape::Create({int64_t{1} << 59}).ok());
  // A 0 does not hide the overflow.
  EXPECT_FALSE(Shape::Create({big, big, big, 0}).ok());
  EXPECT_FALSE(Shape::Create({0, std::numeric_limits<int64_t>::max()}).ok());
}

TEST(ShapeTest, Hashes) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Shape(), Shape{0}, Shape{1}, Shape{1, 1}, Shape{2, 3}, Shape{3, 2}}));
}

TEST(NormalizeAxisTest, Normalizes) {
  EXPECT_THAT(NormalizeAxis(0, 3), IsOkAndHolds(0));
  EXPECT_THAT(NormalizeAxis(2, 3), IsOkAndHolds(2));
  EXPECT_THAT(NormalizeAxis(-1, 3), IsOkAndHolds(2));
  EXPECT_THAT(NormalizeAxis(-3, 3), IsOkAndHolds(0));
  for (int64_t axis : {int64_t{3}, int64_t{-4}, int64_t{1} << 40}) {
    EXPECT_THAT(NormalizeAxis(axis, 3),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3 dimensions")));
  }
  EXPECT_FALSE(NormalizeAxis(0, 0).ok());
}

}  // namespace
}  // namespace cooper
