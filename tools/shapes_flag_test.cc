#include "tools/shapes_flag.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ShapesFlagTest, ReadsNamesAndExtents) {
  EXPECT_THAT(ParseShapesFlag(""), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(ParseShapesFlag("data:32,10;softmax_label:32"),
              IsOkAndHolds(ElementsAre(Pair("data", PartialShape({32, 10})),
                                       Pair("softmax_label", PartialShape({32})))));
  EXPECT_THAT(ParseShapesFlag(" a:b : ?, 0 ; c:-1;"),
              IsOkAndHolds(ElementsAre(Pair("a:b", PartialShape({kUnknownDim, 0})),
                                       Pair("c", PartialShape({kUnknownDim})))));
}

TEST(ShapesFlagTest, NamesThePartThatIsNone) {
  for (const std::string part :
       {"data", "data:", ":3", " :3", "data:3,", "data:3x4", "data:-2", "data:1e3"}) {
    EXPECT_THAT(ParseShapesFlag("x:1;" + part),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("'" + part + "'"), HasSubstr("data:32,10"))));
  }
  EXPECT_THAT(ParseShapesFlag("x:1;x:2"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one shape only for 'x'")));
}

}  // namespace
}  // namespace cooper
