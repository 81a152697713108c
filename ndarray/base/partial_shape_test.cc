#include "ndarray/base/partial_shape.h"

#include <cstdint>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

constexpr int64_t kAny = kUnknownDim;

TEST(PartialShapeTest, PrintsUnknownsAsQuestionMarks) {
  EXPECT_EQ(PartialShape().ToString(), "?");
  EXPECT_EQ((PartialShape{}).ToString(), "?");
  EXPECT_EQ(PartialShape(Shape()).ToString(), "()");
  EXPECT_EQ((PartialShape{kAny}).ToString(), "(?,)");
  EXPECT_EQ((PartialShape{kAny, 650}).ToString(), "(?, 650)");
  EXPECT_EQ(PartialShape::OfRank(2).ToString(), "(?, ?)");
}

TEST(PartialShapeTest, FromMXNetTakesZeroAndMinusOneAsUnknown) {
  EXPECT_EQ(PartialShape::FromMXNet({}), PartialShape());
  EXPECT_EQ(PartialShape::FromMXNet({0, 3, -1}), (PartialShape{kAny, 3, kAny}));
}

TEST(PartialShapeTest, KnowsWhatIsKnown) {
  EXPECT_FALSE(PartialShape().IsFull());
  EXPECT_FALSE((PartialShape{2, kAny}).IsFull());
  EXPECT_TRUE((PartialShape{2, 0}).IsFull());
  EXPECT_TRUE(PartialShape(Shape()).IsFull());
  EXPECT_EQ((PartialShape{2, 3}).ToShape(), (Shape{2, 3}));
  EXPECT_EQ((PartialShape{2, 3}).num_elements(), 6);
  EXPECT_EQ((PartialShape{2, kAny}).num_elements(), kUnknownDim);
  EXPECT_EQ(PartialShape().num_elements(), kUnknownDim);
  EXPECT_EQ(PartialShape(Shape()).num_elements(), 1);
}

TEST(PartialShapeTest, UnknownExtentsAreNotNegative) {
  EXPECT_FALSE(PartialShape().HasNegativeExtent());
  EXPECT_FALSE((PartialShape{2, kAny, 0}).HasNegativeExtent());
  EXPECT_TRUE((PartialShape{2, -2}).HasNegativeExtent());
}

TEST(PartialShapeTest, Merges) {
  struct Case {
    const char* name;
    PartialShape a, b, merged;
    bool ok;
  };
  const Case cases[] = {
      {"NothingWithNothing", {}, {}, {}, true},
      {"NothingWithRank", {}, {kAny, 2}, {kAny, 2}, true},
      {"RankWithNothing", {kAny, 2}, {}, {kAny, 2}, true},
      {"EachKnowsOne", {kAny, 2}, {3, kAny}, {3, 2}, true},
      {"Equal", {3, 2}, {3, 2}, {3, 2}, true},
      {"Zero", {kAny, 2}, {0, 2}, {0, 2}, true},
      {"OtherRank", {3, 2}, {3, 2, 1}, {3, 2}, false},
      {"OtherExtent", {kAny, 2}, {3, 4}, {kAny, 2}, false},
      {"ZeroIsKnown", {0}, {1}, {0}, false},
      {"ScalarWithVector", PartialShape(Shape()), {1}, PartialShape(Shape()), false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PartialShape shape = c.a;
    EXPECT_EQ(shape.Merge(c.b), c.ok);
    EXPECT_EQ(shape, c.merged);
  }
}

TEST(PartialShapeTest, CountsElementsAsFarAsItCan) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(PartialShape({2, 3}).num_elements(), 6);
  EXPECT_EQ(PartialShape({2, kUnknownDim}).num_elements(), kUnknownDim);
  EXPECT_EQ(PartialShape({2, kMax}).num_elements(), kMax);
  EXPECT_EQ(PartialShape({3, kMax, 0}).num_elements(), 0);
}

}  // namespace
}  // namespace cooper
