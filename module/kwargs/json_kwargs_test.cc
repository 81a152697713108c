#include "module/kwargs/json_kwargs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(JsonKwargsTest, WritesValuesAsPythonPrintsThem) {
  EXPECT_THAT(KwargsFromJson(R"({"a": 0.25, "b": true, "c": null, "d": "x", "e": [2, 4], "f": [1],
                         "g": {"h": 1}, "i": -3})"),
              IsOkAndHolds(ElementsAre(Pair("a", "0.25"), Pair("b", "True"), Pair("c", "None"),
                                       Pair("d", "x"), Pair("e", "(2, 4)"), Pair("f", "(1,)"),
                                       Pair("g", R"({"h":1})"), Pair("i", "-3"))));
}

TEST(JsonKwargsTest, ReadsMXNetsDumps) {
  EXPECT_THAT(NameAndKwargsFromJson(R"(["lstmbias", {"forget_bias": 1.0}])"),
              IsOkAndHolds(Pair("lstmbias", ElementsAre(Pair("forget_bias", "1.0")))));
}

TEST(JsonKwargsTest, RefusesOtherTexts) {
  for (const char* text : {"", "zero", "[1, 2]", "{", R"(["zero"])", R"(["zero", 1])"}) {
    EXPECT_THAT(KwargsFromJson(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
    EXPECT_THAT(NameAndKwargsFromJson(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
  }
}

}  // namespace
}  // namespace cooper
