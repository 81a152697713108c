#include "examples/serve/request_json.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"

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
      {"a number above any", R"({"y": 1e999})", "'y' has a number beyond any double"},
      {"in place of the object", "1e999", "no JSON object"},
      {"unknown", R"({"z": 1})", "input 'z' is none of the model's"},
      {"twice", R"({"y": 1, "y": 2})", "input 'y' comes twice"},
      {"no list", R"({"x": 3})", "'x' has number where a list is expected, at depth 0 of 2"},
      {"no inner list", R"({"x": [[1, 2], 3]})",
       "'x' has number where a list is expected, at depth 1 of 2"},
      {"no number", R"({"x": [[1, "2"]]})",
       "'x' has string where a number is expected, at depth 2 of 2"},
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

TEST(ParseRequestTest, RepeatsTheBeginningOfAnUnknownName) {
  for (const size_t size : {100, 101, 1'000'000}) {
    const std::string begin(100, 'z');
    EXPECT_THAT(
        ParseRequest("{\"" + std::string(size, 'z') + "\": 1}", Inputs()),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "input '" + begin + (size > 100 ? "..." : "") + "' is none of the model's"))
        << size;
  }
}

absl::StatusOr<ArrayMap> ParseNumber(DType dtype, const std::string& number) {
  return ParseRequest("{\"n\": " + number + "}", {{.name = "n", .dtype = dtype}});
}

TEST(ParseRequestTest, KeepsWholeNumbers) {
  const struct {
    DType dtype;
    std::vector<int64_t> right;
    std::vector<const char*> wrong;
  } kCases[] = {
      {DType::kBool, {0, 1}, {"2", "-1", "0.5"}},
      {DType::kUint8, {0, 255}, {"256", "300", "-1", "1.5"}},
      {DType::kInt8, {-128, 127}, {"-129", "128", "-0.5"}},
      {DType::kInt32, {-2147483648, 2147483647}, {"-2147483649", "2147483648", "1e10", "0.1"}},
      {DType::kInt64,
       {3000000000, -9007199254740991, 9007199254740991},
       {"9007199254740992", "9007199254740993", "-9007199254740992", "18446744073709551616",
        "1e300", "1.25"}},
  };
  for (const auto& c : kCases) {
    for (const int64_t number : c.right) {
      const auto request = ParseNumber(c.dtype, std::to_string(number));
      COOPER_ASSERT_OK(request.status());
      EXPECT_EQ(request->at("n").dtype(), c.dtype);
      EXPECT_THAT(*request->at("n").ToVector<int64_t>(), ElementsAre(number));
    }
    for (const char* number : c.wrong) {
      EXPECT_THAT(ParseNumber(c.dtype, number),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr(std::string("(") + DTypeName(c.dtype) + ")")))
          << number;
    }
  }
  EXPECT_THAT(ParseNumber(DType::kUint8, "1.5"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 'n' has 1.5, expected a whole number from 0 to 255")));
  EXPECT_THAT(ParseNumber(DType::kInt32, "3000000000"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 3000000000, expected")));
  EXPECT_THAT(*ParseNumber(DType::kInt32, "2.0")->at("n").ToVector<int64_t>(), ElementsAre(2));
}

// Parsing uses neither a deep stack nor time quadratic in the number of keys: it is linear in the
// length.
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
