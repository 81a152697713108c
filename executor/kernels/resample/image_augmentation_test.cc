// Tests what no golden case can have of operators that change images at random: how often and how
// far they do.

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

constexpr int kRuns = 2'000;

// Returns what `op` makes of an image (height, width, 3), once for each run.
std::vector<std::vector<float>> RunsOf(const char* op, const AttrMap& attrs, const Shape& shape,
                                       const std::vector<float>& image) {
  auto symbol = Symbol::Create(op, {.inputs = {Symbol::Variable("data")}, .attrs = attrs});
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  auto executor =
      Executor::SimpleBind(*symbol, {.shapes = {{"data", shape}}, .grad_req = WriteReq::kNull});
  EXPECT_TRUE(executor.ok()) << executor.status();
  COOPER_EXPECT_OK((*executor)->arg("data").CopyFrom(*NDArray::FromVector<float>(shape, image)));
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < kRuns; ++run) {
    COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/false));
    runs.push_back(*(*(*executor)->outputs())[0].ToVector<float>());
  }
  return runs;
}

// Checks the mean and the variance of numbers within five standard deviations of theirs, for
// distributions whose fourth moment is at most three times the variance's square.
void ExpectMoments(const std::vector<double>& x, double mean, double variance) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (double v : x) sum += v;
  for (double v : x) squares += (v - mean) * (v - mean);
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt(2 / n));
}

TEST(ImageAugmentationTest, FlipsHalfOfTheTimes) {
  const std::vector<float> image = {1, 2, 3, 4, 5, 6};
  for (const auto& [op, shape] : {std::pair("_image_random_flip_left_right", Shape({1, 2, 3})),
                                  std::pair("_image_random_flip_top_bottom", Shape({2, 1, 3}))}) {
    int flips = 0;
    for (const auto& run : RunsOf(op, {}, shape, image)) {
      if (run == image) continue;
      ++flips;
      ASSERT_EQ(run, (std::vector<float>{4, 5, 6, 1, 2, 3}));
    }
    EXPECT_NEAR(flips, kRuns / 2, 5 * std::sqrt(kRuns / 4.0)) << op;
  }
}

TEST(ImageAugmentationTest, FactorsAreUniform) {
  const AttrMap factors = {{"min_factor", "0.5"}, {"max_factor", "1.5"}};
  std::vector<double> brightness, saturation;
  for (const auto& run :
       RunsOf("_image_random_brightness", factors, Shape({1, 1, 3}), {10, 20, 30})) {
    brightness.push_back(run[0] / 10);
    ASSERT_FLOAT_EQ(run[2], 3 * run[0]);
    ASSERT_TRUE(run[0] >= 5 && run[0] < 15);
  }
  ExpectMoments(brightness, 1, 1.0 / 12);
  // The difference of two channels has the factor of saturation.
  for (const auto& run :
       RunsOf("_image_random_saturation", factors, Shape({1, 1, 3}), {10, 20, 30})) {
    saturation.push_back((run[1] - run[0]) / 10);
  }
  ExpectMoments(saturation, 1, 1.0 / 12);
}

TEST(ImageAugmentationTest, HuesTurn) {
  // Up to a sixth of a turn from red, towards yellow, green alone rises.
  const AttrMap factors = {{"min_factor", "0"}, {"max_factor", "0.166"}};
  for (const auto& run : RunsOf("_image_random_hue", factors, Shape({1, 1, 3}), {200, 20, 20})) {
    ASSERT_NEAR(run[0], 200, 1e-3);
    ASSERT_NEAR(run[2], 20, 1e-3);
    ASSERT_TRUE(run[1] >= 20 - 1e-3 && run[1] <= 200 + 1e-3);
  }
}

TEST(ImageAugmentationTest, JitterStaysInLimits) {
  const AttrMap attrs = {
      {"brightness", "0.2"}, {"contrast", "0"}, {"saturation", "0"}, {"hue", "0"}};
  std::vector<double> factors;
  for (const auto& run :
       RunsOf("_image_random_color_jitter", attrs, Shape({1, 1, 3}), {10, 20, 30})) {
    factors.push_back(run[0] / 10);
    ASSERT_TRUE(run[0] >= 8 - 1e-4 && run[0] <= 12);
  }
  ExpectMoments(factors, 1, 0.4 * 0.4 / 12);
  const AttrMap all = {
      {"brightness", "0.2"}, {"contrast", "0.2"}, {"saturation", "0.2"}, {"hue", "0.1"}};
  for (const auto& run :
       RunsOf("_image_random_color_jitter", all, Shape({1, 1, 3}), {90, 120, 90})) {
    for (float value : run) ASSERT_TRUE(value > 40 && value < 220) << value;
  }
}

// Returns what `op` makes of pixels that repeat after five, with `threads` threads.
std::vector<float> ChangedStripes(const char* op, const AttrMap& attrs, DType dtype, int threads) {
  const Shape shape({120, 115, 3});
  std::vector<float> image(shape.num_elements());
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 15 * 77 % 16 * 16);
  auto symbol = Symbol::Create(op, {.inputs = {Symbol::Variable("data")}, .attrs = attrs});
  auto executor = Executor::SimpleBind(
      *symbol,
      {.shapes = {{"data", shape}}, .types = {{"data", dtype}}, .grad_req = WriteReq::kNull});
  EXPECT_TRUE(executor.ok()) << executor.status();
  const auto data = NDArray::FromVector<float>(shape, image);
  COOPER_EXPECT_OK((*executor)->arg("data").CopyFrom(*data->AsType(dtype)));
  SetNumThreads(threads);
  COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/false));
  SetNumThreads(0);
  return *(*(*executor)->outputs())[0].AsType(DType::kFloat32)->ToVector<float>();
}

TEST(ImageAugmentationTest, EqualPixelsStayEqual) {
  const AttrMap factor = {{"min_factor", "0.75"}, {"max_factor", "0.75"}};
  const std::pair<const char*, AttrMap> kCases[] = {
      {"_image_random_brightness", factor},
      {"_image_random_contrast", factor},
      {"_image_random_saturation", factor},
      {"_image_random_hue", factor},
      {"_image_adjust_lighting", {{"alpha", "(0.1, 0.2, 0.3)"}}}};
  for (const auto& [op, attrs] : kCases) {
    for (DType dtype : {DType::kUint8, DType::kFloat32}) {
      const std::vector<float> changed = ChangedStripes(op, attrs, dtype, 1);
      for (size_t i = 15; i < changed.size(); ++i) {
        ASSERT_EQ(changed[i], changed[i % 15]) << op << " " << dtype << ", element " << i;
      }
      EXPECT_EQ(changed, ChangedStripes(op, attrs, dtype, 3)) << op << " " << dtype;
    }
  }
}

TEST(ImageAugmentationTest, LightingIsNormal) {
  std::vector<double> reds;
  for (const auto& run :
       RunsOf("_image_random_lighting", {{"alpha_std", "0.1"}}, Shape({1, 1, 3}), {90, 120, 90})) {
    reds.push_back(run[0] - 90);
  }
  const double first = 55.46 * 0.5675, second = 4.794 * 0.7192, third = 1.148 * 0.4009;
  ExpectMoments(reds, 0, 0.01 * (first * first + second * second + third * third));
}

}  // namespace
}  // namespace cooper
