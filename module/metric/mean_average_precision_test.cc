#include "module/metric/mean_average_precision.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/metric/create_metric.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pair;

const float kNaN = std::nanf("");

using Rows = std::vector<std::vector<float>>;

// One image with these rows. Without rows there is one, of class -1.
NDArray Image(const Rows& rows, size_t width) {
  std::vector<float> values;
  for (const std::vector<float>& row : rows) values.insert(values.end(), row.begin(), row.end());
  if (rows.empty()) values.assign(width, -1);
  return *NDArray::FromVector<float>(
      {1, static_cast<int64_t>(values.size() / width), static_cast<int64_t>(width)}, values);
}

absl::Status AddImage(EvalMetric& metric, const Rows& objects, const Rows& detections) {
  const size_t width = objects.empty() ? 5 : objects[0].size();
  return metric.Update({Image(objects, width)}, {Image(detections, 6)});
}

double Value(const EvalMetric& metric) { return metric.GetNameValue().back().second; }

// Boxes on the upper and the lower half, and at a corner.
const std::vector<float> kUpper = {0, 0, 0, 1, .5f}, kLower = {0, 0, .5f, 1, 1};

std::vector<float> Upper(float score) { return {0, score, 0, 0, 1, .5f}; }
std::vector<float> Lower(float score) { return {0, score, 0, .5f, 1, 1}; }
std::vector<float> Corner(float score) { return {0, score, 0, 0, .1f, .1f}; }

TEST(MeanAveragePrecisionTest, GivesTheValues) {
  const struct {
    const char* what;
    Rows objects, detections;
    double area, eleven_points;
  } kCases[] = {
      {"all found", {kUpper, kLower}, {Upper(.9f), Lower(.8f)}, 1, 1},
      {"one of two found", {kUpper, kLower}, {Upper(.9f)}, .5, 6 / 11.0},
      {"nothing found", {kUpper}, {}, 0, 0},
      {"a better false one", {kUpper}, {Corner(.9f), Upper(.8f)}, .5, .5},
      {"a worse false one", {kUpper}, {Corner(.7f), Upper(.8f)}, 1, 1},
      // The second of one object is false: precisions 1, 1/2, 2/3.
      {"an object twice",
       {kUpper, kLower},
       {Upper(.9f), Upper(.8f), Lower(.7f)},
       (1 + 2 / 3.0) / 2,
       (6 + 5 * 2 / 3.0) / 11},
      {"equal scores, in the order of rows", {kUpper}, {Corner(.9f), Upper(.9f)}, .5, .5},
      {"NaN below all scores", {kUpper}, {Corner(kNaN), Upper(-9)}, 1, 1},
      {"NaN among NaN", {kUpper}, {Corner(kNaN), Upper(kNaN)}, .5, .5},
      {"NaN in a box", {kUpper}, {{0, .9f, kNaN, 0, 1, .5f}, Upper(.8f)}, .5, .5},
      {"a class that is NaN", {kUpper}, {{kNaN, .9f, 0, 0, 1, .5f}, Upper(.8f)}, 1, 1},
      {"boxes without an area", {{0, 1, 1, 1, 1}}, {{0, .9f, 1, 1, 1, 1}}, 0, 0},
      {"an overlap of exactly ovp_thresh", {kUpper}, {{0, .9f, 0, 0, .5f, .5f}}, 0, 0},
      // Class 1 has no object, and counts with a precision of 0.
      {"a false class", {kUpper}, {Upper(.9f), {1, .8f, 0, 0, 1, .5f}}, .5, .5},
      {"a class far away", {{1e30f, 0, 0, 1, 1}}, {{1e30f, .9f, 0, 0, 1, 1}}, 1, 1},
      {"difficult objects do not count",
       {{0, 0, 0, 1, .5f, 0}, {0, 0, .5f, 1, 1, 1}},
       {Upper(.8f), Lower(.9f), Lower(.7f)},
       1,
       1},
      {"only difficult ones", {{0, 0, 0, 1, .5f, 1}}, {Upper(.9f)}, std::nan(""), std::nan("")},
      {"no objects", {}, {Upper(.9f)}, std::nan(""), std::nan("")},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    const auto area = MeanAveragePrecision();
    const auto eleven_points = Voc07MeanAveragePrecision();
    COOPER_ASSERT_OK(AddImage(*area, c.objects, c.detections));
    COOPER_ASSERT_OK(AddImage(*eleven_points, c.objects, c.detections));
    EXPECT_THAT(Value(*area), NanSensitiveDoubleEq(c.area));
    EXPECT_THAT(Value(*eleven_points), NanSensitiveDoubleEq(c.eleven_points));
  }
}

TEST(MeanAveragePrecisionTest, IsNaNBeforeTheFirstBatch) {
  EXPECT_THAT(MeanAveragePrecision()->GetNameValue(),
              ElementsAre(Pair("mAP", NanSensitiveDoubleEq(std::nan("")))));
}

TEST(MeanAveragePrecisionTest, RanksDetectionsOfAllImagesTogether) {
  const auto metric = MeanAveragePrecision();
  COOPER_ASSERT_OK(AddImage(*metric, {kUpper}, {Upper(.5f), Corner(.4f)}));
  COOPER_ASSERT_OK(AddImage(*metric, {kLower}, {Lower(.7f), Corner(.6f)}));
  EXPECT_DOUBLE_EQ(Value(*metric), (1 + 2 / 3.0) / 2);
  metric->ResetLocal();
  EXPECT_TRUE(std::isnan(Value(*metric)));
  EXPECT_DOUBLE_EQ(metric->GetGlobalNameValue()[0].second, (1 + 2 / 3.0) / 2);
  metric->Reset();
  EXPECT_TRUE(std::isnan(metric->GetGlobalNameValue()[0].second));
}

TEST(MeanAveragePrecisionTest, UsesDifficultObjectsIfAsked) {
  const auto metric = MeanAveragePrecision({.use_difficult = true});
  COOPER_ASSERT_OK(AddImage(*metric, {{0, 0, 0, 1, .5f, 0}, {0, 0, .5f, 1, 1, 1}}, {Lower(.9f)}));
  EXPECT_DOUBLE_EQ(Value(*metric), .5);
}

TEST(MeanAveragePrecisionTest, NamesClasses) {
  const auto metric = *CreateMetric(
      "MApMetric", {{"class_names", "(cat, dog)"}, {"pred_idx", "1"}, {"ovp_thresh", "0.4"}});
  COOPER_ASSERT_OK(metric->Update(
      {Image({{1, 0, 0, 1, 1}}, 5)},
      {*NDArray::Zeros({7}), Image({{1, .9f, 0, 0, 1, .5f}, {5, .8f, 0, 0, 1, 1}}, 6)}));
  EXPECT_THAT(metric->GetNameValue(), ElementsAre(Pair("cat", NanSensitiveDoubleEq(std::nan(""))),
                                                  Pair("dog", 1), Pair("mAP", .5)));
}

TEST(MeanAveragePrecisionTest, LeavesOutMaskedObjects) {
  const auto metric = MeanAveragePrecision();
  const NDArray label = Image({kUpper, kLower}, 5);
  NDArray mask = Image({{1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}}, 5);
  COOPER_ASSERT_OK(metric->Update({label}, {Image({Upper(.9f)}, 6)}, {mask}));
  EXPECT_DOUBLE_EQ(Value(*metric), 1);
  // A row of padding is an image without objects.
  COOPER_ASSERT_OK(
      metric->Update({label}, {Image({Corner(1)}, 6)}, {*NDArray::Zeros(label.shape())}));
  EXPECT_DOUBLE_EQ(Value(*metric), 1);
}

TEST(MeanAveragePrecisionTest, GoesOnFromASavedState) {
  const auto first = Voc07MeanAveragePrecision();
  COOPER_ASSERT_OK(AddImage(*first, {kUpper}, {Upper(.5f), Corner(kNaN)}));
  const auto second = Voc07MeanAveragePrecision();
  COOPER_ASSERT_OK(second->LoadState(first->SaveState()));
  for (EvalMetric* metric : {first.get(), second.get()}) {
    COOPER_ASSERT_OK(AddImage(*metric, {kLower}, {Corner(.9f), Lower(.7f)}));
  }
  EXPECT_EQ(Value(*first), Value(*second));
  EXPECT_EQ(second->SaveState(), first->SaveState());
  // Any numbers are loaded, but only in rows of three.
  COOPER_ASSERT_OK(second->LoadState("name mAP\nlocal nan,1,2,1e300,nan,7\nglobal \n"));
  EXPECT_EQ(Value(*second), 0);
  EXPECT_THAT(second->LoadState("name mAP\nlocal 1,2\nglobal \n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 totals")));
}

TEST(MeanAveragePrecisionTest, RefusesOtherShapes) {
  const NDArray label = *NDArray::Zeros({2, 3, 5});
  const NDArray detections = *NDArray::Zeros({2, 4, 6});
  const struct {
    std::vector<NDArray> labels, preds;
    const char* error;
  } kCases[] = {
      {{*NDArray::Zeros({2, 15})}, {detections}, "label is (2, 15)"},
      {{*NDArray::Zeros({2, 3, 4})}, {detections}, "expected a label (batch_size, objects, 5"},
      {{*NDArray::Zeros({1, 3, 5})}, {detections}, "expected a label"},
      {{label}, {*NDArray::Zeros({2, 4, 7})}, "detections (batch_size, anchors, 6)"},
      {{label}, {*NDArray::Zeros({2, 4})}, "prediction (2, 4)"},
      {{label, label}, {detections}, "mAP: 2 labels and 1 predictions"},
      {{label}, {}, "expected one label and a prediction 0 (pred_idx)"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(MeanAveragePrecision()->Update(c.labels, c.preds),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
  }
  EXPECT_THAT(MeanAveragePrecision({.pred_idx = -1})->Update({label}, {detections}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a prediction -1")));
}

}  // namespace
}  // namespace cooper
