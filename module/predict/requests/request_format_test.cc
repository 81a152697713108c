#include "module/predict/requests/request_format.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Returns a format with words and their features, both of the sample's length, and an input (one
// row per sample) without a length.
RequestFormat Sentences() {
  return {.inputs = {{.name = "words", .shape = {kUnknownDim}},
                     {.name = "features", .shape = {3, kUnknownDim}},
                     {.name = "speaker", .shape = {2}, .dtype = DType::kInt32}},
          .lengths = {5, 9},
          .length_name = "length"};
}

ArrayMap Request(int64_t words, int64_t features) {
  return {{"words", *NDArray::Zeros({words})},
          {"features", *NDArray::Zeros({3, features})},
          {"speaker", *NDArray::Zeros({2}, DType::kInt32)}};
}

TEST(RequestFormatTest, TellsTheShapesOfABatch) {
  EXPECT_EQ(Sentences().BatchShapes(4, 9),
            (KnownShapes{
                {"words", {4, 9}}, {"features", {4, 3, 9}}, {"speaker", {4, 2}}, {"length", {4}}}));
  RequestFormat format = Sentences();
  format.length_name = "";
  EXPECT_FALSE(format.BatchShapes(4, 9).contains("length"));
}

TEST(RequestFormatTest, TellsTheLength) {
  EXPECT_THAT(Sentences().CheckRequest(Request(7, 7)), IsOkAndHolds(7));
  const RequestFormat fixed = {.inputs = {{.name = "data", .shape = {4}}}};
  EXPECT_THAT(fixed.CheckRequest({{"data", *NDArray::Zeros({4})}}), IsOkAndHolds(0));
}

TEST(RequestFormatTest, RefusesNamesThatAreUsedTwice) {
  RequestFormat format = Sentences();
  format.length_name = "words";
  EXPECT_THAT(format.Check(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are called 'words'")));
  format = Sentences();
  format.inputs.push_back(format.inputs[2]);
  EXPECT_THAT(format.Check(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are called 'speaker'")));
}

TEST(RequestFormatTest, RefusesWrongRequests) {
  const RequestFormat format = Sentences();
  const auto expect_error = [&](const ArrayMap& request, const auto& message) {
    EXPECT_THAT(format.CheckRequest(request),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  ArrayMap request = Request(7, 7);
  request.erase("features");
  expect_error(request, HasSubstr("input 'features' is missing"));
  expect_error(Request(7, 6), AllOf(HasSubstr("'features' is (3, 6)"), HasSubstr("of length 7")));
  expect_error(Request(0, 0), HasSubstr("'words' is (0,)"));
  expect_error(Request(10, 10), AllOf(HasSubstr("length 10"), HasSubstr("largest bucket 9")));
  request = Request(7, 7);
  request["speaker"] = *NDArray::Zeros({2});
  expect_error(request, HasSubstr("'speaker' is float32, expected int32"));
  request = Request(7, 7);
  request["word"] = request["words"];
  expect_error(request, AllOf(HasSubstr("no input 'word'"), HasSubstr("'words'")));
}

TEST(RequestFormatTest, LooksForNumbersThatAreNotFiniteIfAsked) {
  RequestFormat format = Sentences();
  ArrayMap request = Request(1, 1);
  request["words"] = *NDArray::FromVector<float>({1}, {std::numeric_limits<float>::infinity()});
  EXPECT_THAT(format.CheckRequest(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'words' has elements")));
  format.check_finite = false;
  EXPECT_THAT(format.CheckRequest(request), IsOkAndHolds(1));
}

TEST(RequestFormatTest, RefusesWrongLengths) {
  const auto expect_error = [](const RequestFormat& format, const auto& message) {
    EXPECT_THAT(format.Check(), StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  COOPER_EXPECT_OK(Sentences().Check());
  RequestFormat format = Sentences();
  format.lengths = {0, 5};
  expect_error(format, HasSubstr("the first of lengths is 0"));
  format.lengths = {5, 5};
  expect_error(format, HasSubstr("lengths do not rise"));
  format.lengths = {};
  expect_error(format, HasSubstr("lengths is empty"));
  format.inputs = {{.name = "speaker", .shape = {2}}};
  expect_error(format, HasSubstr("no lengths for 'length'"));
  format.lengths = {5};
  expect_error(format, HasSubstr("no input has an unknown extent"));
}

}  // namespace
}  // namespace cooper
