// Tests operators of detection with extreme numbers, and with empty arrays.

#include <cmath>
#include <limits>
#include <vector>

#include "executor/run/invoke.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

NDArray Floats(const Shape& shape, const std::vector<float>& values) {
  return *NDArray::FromVector<float>(shape, values);
}

std::vector<float> Align(const AttrMap& attrs, const std::vector<float>& roi) {
  const NDArray data = *NDArray::Full({1, 1, 4, 4}, 1), rois = Floats({1, 5}, roi);
  const NDArray out = *NDArray::Zeros({1, 1, 2, 2});
  AttrMap all = {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}};
  all.insert(attrs.begin(), attrs.end());
  COOPER_EXPECT_OK(Invoke("_contrib_ROIAlign", all, {&data, &rois}, {&out}));
  return *out.ToVector<float>();
}

TEST(DetectionTest, RegionsOutsideAreZeros) {
  EXPECT_THAT(Align({}, {0, 0, 0, 3, 3}), Each(1));
  EXPECT_THAT(Align({}, {-1, 0, 0, 3, 3}), Each(0));
  EXPECT_THAT(Align({}, {1, 0, 0, 3, 3}), Each(0));
  EXPECT_THAT(Align({}, {kNan, 50, 50, 60, 60}), Each(0));
  EXPECT_THAT(Align({{"aligned", "True"}}, {0, 2, 2, 2, 2}), Each(0));
  EXPECT_THAT(Align({{"aligned", "True"}}, {0, 3, 3, 1, 1}), Each(0));
  EXPECT_THAT(Align({}, {0, kNan, 0, 3, 3}), Each(0));
  for (const float value : {1e30F, kInfinity, -kInfinity}) {
    Align({}, {0, -value, -value, value, value});  // terminates
    Align({{"sample_ratio", "2"}}, {0, 0, value, 3, value});
  }
}

// A score that is NaN is not a candidate.
TEST(DetectionTest, BoxesWithoutScores) {
  const NDArray rows = Floats({3, 6}, {0, kNan, 0, 0, 1, 1,            //
                                       0, 0.5, kNan, 0, 1, kInfinity,  //
                                       0, 0.7, 0, 0, 1, 1});
  const NDArray out = *NDArray::Zeros({3, 6}), record = *NDArray::Zeros({3, 1}, DType::kInt32);
  COOPER_ASSERT_OK(Invoke("_contrib_box_nms", {}, {&rows}, {&out, &record}));
  EXPECT_THAT(*record.ToVector<int>(), ElementsAre(2, 1, -1));
}

TEST(DetectionTest, TargetsOfAnchorsThatAreNoNumbers) {
  const NDArray anchors = Floats({1, 3, 4}, {kNan, 0, 1, 1, 0, 0, 1, 1, 0.5, 0.5, 0.4, 0.4});
  const NDArray labels = Floats({1, 1, 5}, {2, 0, 0, 1, 1});
  const NDArray predictions = Floats({1, 2, 3}, {kNan, 0, 1, 0, kInfinity, 1});
  const NDArray location = *NDArray::Zeros({1, 12}), mask = *NDArray::Zeros({1, 12});
  const NDArray classes = *NDArray::Zeros({1, 3});
  COOPER_ASSERT_OK(Invoke("_contrib_MultiBoxTarget", {{"negative_mining_ratio", "3"}},
                          {&anchors, &labels, &predictions}, {&location, &mask, &classes}));
  EXPECT_THAT(*classes.ToVector<float>(), ElementsAre(0, 3, 0));
}

TEST(DetectionTest, OfNothing) {
  const NDArray none = *NDArray::Zeros({0, 4}), some = *NDArray::Zeros({2, 4});
  const NDArray overlaps = *NDArray::Zeros({2, 0});
  COOPER_EXPECT_OK(Invoke("_contrib_box_iou", {}, {&some, &none}, {&overlaps}));
  const NDArray rows = *NDArray::Zeros({0, 6}), record = *NDArray::Zeros({0, 1}, DType::kInt32);
  COOPER_EXPECT_OK(Invoke("_contrib_box_nms", {}, {&rows}, {&rows, &record}));
  const NDArray pixels = *NDArray::Zeros({1, 1, 0, 3}), anchors = *NDArray::Zeros({1, 0, 4});
  COOPER_EXPECT_OK(Invoke("_contrib_MultiBoxPrior", {}, {&pixels}, {&anchors}));
  const NDArray labels = *NDArray::Zeros({1, 0, 5}), predictions = *NDArray::Zeros({1, 2, 0});
  const NDArray location = *NDArray::Zeros({1, 0}), mask = *NDArray::Zeros({1, 0});
  const NDArray classes = *NDArray::Zeros({1, 0});
  COOPER_EXPECT_OK(Invoke("_contrib_MultiBoxTarget", {}, {&anchors, &labels, &predictions},
                          {&location, &mask, &classes}));
  const NDArray found = *NDArray::Zeros({1, 0, 6});
  COOPER_EXPECT_OK(
      Invoke("_contrib_MultiBoxDetection", {}, {&predictions, &location, &anchors}, {&found}));
  EXPECT_THAT(*found.ToVector<float>(), IsEmpty());
}

}  // namespace
}  // namespace cooper
