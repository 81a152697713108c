// Tests the divisor of SoftmaxOutput's gradient, in cases that the golden cases do not have.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

// Returns the gradient of SoftmaxOutput for data of zeros and these labels.
std::vector<float> GradientOfZeros(const Shape& shape, const std::vector<float>& labels,
                                   AttrMap attrs) {
  const Symbol net =
      Op("SoftmaxOutput", {.name = "softmax",
                           .inputs = {Symbol::Variable("data"), Symbol::Variable("label")},
                           .attrs = std::move(attrs)});
  const auto executor = Executor::SimpleBind(
      net, {.shapes = {{"data", shape}}, .grad_reqs = {{"label", WriteReq::kNull}}});
  EXPECT_THAT(executor, IsOk());
  const absl::Span<float> label = *(*executor)->arg("label").Data<float>();
  EXPECT_EQ(label.size(), labels.size());
  std::copy(labels.begin(), labels.end(), label.begin());
  COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
  COOPER_EXPECT_OK((*executor)->Backward());
  return Floats((*executor)->grad("data"));
}

// Rows of 4 classes have the labels 3 and 0. The remaining labels of MXNet's shape (2, 2) are
// counted, but not used.
TEST(SoftmaxOutputTest, CountsLabelsThatNoRowHas) {
  const std::vector<float> labels = {3, 0, 1, 1};
  const std::vector<float> unscaled = {.25f, .25f, .25f, -.75f, -.75f, .25f, .25f, .25f};
  const auto expected = [&unscaled](float divisor) {
    std::vector<float> gradient = unscaled;
    for (float& x : gradient) x /= divisor;
    return gradient;
  };
  const auto gradient = [&labels](const AttrMap& attrs) {
    return GradientOfZeros({2, 2, 2}, labels, attrs);
  };
  const auto near = [](const std::vector<float>& values) {
    return Pointwise(FloatNear(1e-6), values);
  };
  EXPECT_THAT(gradient({}), near(expected(1)));
  EXPECT_THAT(gradient({{"normalization", "batch"}}), near(expected(4)));
  EXPECT_THAT(gradient({{"normalization", "valid"}, {"ignore_label", "1"}}), near(expected(2)));
}

// There are as many rows as labels.
TEST(SoftmaxOutputTest, PreserveShapeHasARowForEachLabel) {
  EXPECT_THAT(
      GradientOfZeros({2, 2, 2}, {1, 0, 0, 1},
                      {{"preserve_shape", "True"}, {"normalization", "batch"}}),
      Pointwise(FloatNear(1e-6), {.125f, -.125f, -.125f, .125f, -.125f, .125f, .125f, -.125f}));
}

}  // namespace
}  // namespace cooper
