#include "examples/serve/request_json.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/request_batcher.h"
#include "ndarray/ndarray.h"
#include "ndarray/partial_shape.h"
#include "ndarray/shape.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<RequestInput>& Inputs() {
  static const auto* const inputs =
      new std::vector<RequestInput>{{.name = "x", .shape = {kUnknownDim, 2}}, {.name = "y"}};
  return *inputs;
}

TEST(ParseRequestTest, ReadsArraysAndNumbers) {
  const auto request = ParseRequest(R"({"y": 7, "x": [[1, -2], [3.5, 4e2], [5, 6]]})", Inputs());
  COOPER_ASSERT_OK(request.status());
  EXPECT_EQ(request->at("x").shape(), Shape({3, 2}));
  EXPECT_THAT(*request->at("x").ToVector<float>(), ElementsAre(1, -2, 3.5, 400, 5, 6));
  EXPECT_EQ(request->at("y").shape(), Shape());
  EXPECT_THAT(*request->at("y").ToVector<float>(), ElementsAre(7));
}

TEST(ParseRequestTest, ReadsEmptyLists) {
  EXPECT_EQ(ParseRequest(R"({"x": []})", Inputs())->at("x").shape(), Shape({0, 0}));
  EXPECT_EQ(ParseRequest(R"({"x": [[], []]})", Inputs())->at("x").shape(), Shape({2, 0}));
  EXPECT_TRUE(ParseRequest("{}", Inputs())->empty());
}

TEST(ParseRequestTest, SaysWhatIsWrong) {
  const struct {
    const char* name;
    const char* body;
    const char* says;
  } kCases[] = {
      {"empty", "", "no JSON object"},
      {"a number", "3", "no JSON object"},
      {"a list", "[{}]", "no JSON object"},
      {"null", "null", "no JSON object"},
      {"cut off", R"({"x": [[1, 2)", "no JSON object"},
      {"two objects", "{} {}", "no JSON object"},
      {"a number above any", R"({"y": 1e999})", "no JSON object"},
      {"unknown", R"({"z": 1})", "input 'z' is none of the model's"},
      {"twice", R"({"y": 1, "y": 2})", "input 'y' comes twice"},
      {"no list", R"({"x": 3})", "'x' has number where a list is expected, in 0 lists"},
      {"no inner list", R"({"x": [[1, 2], 3]})",
       "'x' has number where a list is expected, in 1 lists"},
      {"no number", R"({"x": [[1, "2"]]})",
       "'x' has string where a number is expected, in 2 lists"},
      {"list for a number", R"({"y": [1]})", "'y' has array where a number is expected"},
      {"object", R"({"x": {"x": 1}})", "'x' has object where a list is expected"},
      {"object for a number", R"({"y": {}})", "'y' has object where a number is expected"},
      {"boolean", R"({"y": true})", "'y' has boolean where a number is expected"},
      {"too deep", R"({"x": [[[1]]]})", "'x' has array where a number is expected"},
      {"unequal", R"({"x": [[1, 2], [3]]})", "'x' has lists of 2 and of 1 elements on one axis"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ParseRequest(c.body, Inputs()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.says)))
        << c.name;
  }
}

// Neither the stack nor the square of the keys: each of these takes as long as its length.
TEST(ParseRequestTest, EndsAtTheFirstThatFitsNoInput) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(ParseRequest(R"({"x": )" + deep + R"(, "y": 0})", Inputs()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x' has array")));
  EXPECT_THAT(ParseRequest(R"({"z": )" + deep + R"(, "y": 0})", Inputs()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'z' is none")));
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += R"({"x":)";
  EXPECT_THAT(ParseRequest(objects, Inputs()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x' has object")));
  std::string keys = "{";
  for (int i = 0; i < 200'000; ++i) keys += '"' + std::to_string(i) + R"(":0,)";
  EXPECT_THAT(ParseRequest(keys, Inputs()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'0' is none")));
}

}  // namespace
}  // namespace cooper
