#include "io/batch/key_values.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(KeyValuesTest, EveryKindComesBackBitForBit) {
  KeyValues values;
  values.SetInt("int", -7);
  values.SetUint("uint", std::numeric_limits<uint64_t>::max());
  values.SetDouble("double", 0.1 + 0.2);
  values.SetDouble("nan", std::nan(""));
  values.SetDouble("inf", -std::numeric_limits<double>::infinity());
  values.SetInts("ints", {1, -2, 3});
  values.SetInts("no_ints", {});
  values.SetDoubles("doubles", {1.0 / 3, 5e-324});
  KeyValues inner;
  inner.SetString("name", "it's\n");
  values.SetString("inner", inner.ToString());
  values.SetString("empty", "");

  COOPER_ASSERT_OK_AND_ASSIGN(const KeyValues back, KeyValues::Parse(values.ToString()));
  EXPECT_EQ(back, values);
  EXPECT_THAT(back.GetInt("int"), IsOkAndHolds(-7));
  EXPECT_THAT(back.GetUint("uint"), IsOkAndHolds(std::numeric_limits<uint64_t>::max()));
  EXPECT_THAT(back.GetDouble("double"), IsOkAndHolds(0.1 + 0.2));
  EXPECT_TRUE(std::isnan(*back.GetDouble("nan")));
  EXPECT_THAT(back.GetDouble("inf"), IsOkAndHolds(-std::numeric_limits<double>::infinity()));
  EXPECT_THAT(back.GetInts("ints"), IsOkAndHolds(ElementsAre(1, -2, 3)));
  EXPECT_THAT(back.GetInts("no_ints"), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(back.GetDoubles("doubles"), IsOkAndHolds(ElementsAre(1.0 / 3, 5e-324)));
  EXPECT_THAT(back.GetString("inner"), IsOkAndHolds(inner.ToString()));
  EXPECT_THAT(back.GetString("empty"), IsOkAndHolds(""));
}

TEST(KeyValuesTest, NamesTheKeyThatIsMissingOrWrong) {
  KeyValues values;
  values.SetString("kind", "NDArrayIter");
  EXPECT_THAT(values.GetInt("cursor"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'cursor'")));
  EXPECT_THAT(values.GetInt("kind"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'kind' is 'NDArrayIter'")));
  COOPER_EXPECT_OK(values.Expect("kind", "NDArrayIter"));
  EXPECT_THAT(values.Expect("kind", "CSVIter"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected 'CSVIter'")));
}

TEST(KeyValuesTest, RefusesOtherTexts) {
  EXPECT_THAT(KeyValues::Parse("word\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'word'")));
  EXPECT_THAT(KeyValues::Parse(" 1\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")));
  EXPECT_THAT(KeyValues::Parse("a 1\na 2\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a' twice")));
}

}  // namespace
}  // namespace cooper
