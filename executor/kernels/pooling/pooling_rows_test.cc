// Compares pooling by rows of windows with pooling of each window on its own.

#include "executor/kernels/pooling/pooling_rows.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {
namespace {

struct Case {
  int64_t height, width, kernel, stride, pad;
  // Whether windows may begin in the image and extend beyond the padding.
  bool full = false;

  int64_t Positions(int64_t extent) const {
    const int64_t room = extent + 2 * pad - kernel;
    return (full ? (room + stride - 1) / stride : room / stride) + 1;
  }
};

const Case kCases[] = {{5, 5, 3, 1, 1},          {9, 8, 3, 2, 1},   {8, 10, 2, 2, 0},
                       {7, 7, 3, 2, 0, true},    {6, 40, 5, 1, 2},  {6, 41, 3, 3, 1},
                       {4, 17, 1, 1, 0},         {4, 17, 4, 2, 2},  {3, 3000, 3, 1, 1},
                       {3, 2999, 3, 2, 1, true}, {5, 2500, 5, 3, 2}};

class PoolingRowsTest : public testing::TestWithParam<Case> {
 protected:
  PoolingRowsTest() {
    const Case& c = GetParam();
    param_.kernel = {c.kernel, c.kernel};
    param_.stride = {c.stride, c.stride};
    param_.pad = {c.pad, c.pad};
    const Shape data = {1, 1, c.height, c.width};
    const Shape output = {1, 1, c.Positions(c.height), c.Positions(c.width)};
    RandomGenerator random(1);
    // Many of the values are equal.
    for (int64_t i = 0; i < data.num_elements(); ++i) {
      data_.push_back(static_cast<float>(random.NextBelow(4)) - 2);
    }
    for (int64_t i = 0; i < output.num_elements(); ++i) {
      ograd_.push_back(static_cast<float>(random.NextBelow(9)) - 4);
    }
    for (const bool count_pad : {true, false}) {
      param_.count_include_pad = count_pad;
      planes_.emplace_back(param_, data, output, /*v1=*/false);
    }
  }

  PoolingParam param_;
  std::vector<PoolingPlanes> planes_;  // means that count padding, and that do not
  std::vector<float> data_, ograd_;
};

TEST_P(PoolingRowsTest, Values) {
  for (const PoolingPlanes& p : planes_) {
    std::vector<float> max(ograd_.size()), mean(ograd_.size(), 1), sum(ograd_.size());
    PoolRows<PoolingMax<float>>(p, false, data_.data(), max.data(), false);
    PoolRows<PoolingSum<float>>(p, true, data_.data(), mean.data(), /*add=*/true);
    PoolRows<PoolingSum<float>>(p, false, data_.data(), sum.data(), false);
    p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
      float top = std::numeric_limits<float>::lowest(), total = 0;
      p.ForEachElement(window, [&](int64_t i) {
        top = std::max(top, data_[i]);
        total += data_[i];
      });
      ASSERT_EQ(max[position], top) << position;
      ASSERT_EQ(sum[position], total) << position;
      ASSERT_FLOAT_EQ(mean[position], 1 + total / static_cast<float>(window.divisor)) << position;
    });
  }
}

TEST_P(PoolingRowsTest, Gradients) {
  for (const PoolingPlanes& p : planes_) {
    std::vector<float> max(data_.size()), mean(data_.size()), sum(data_.size());
    MaxGradientRows(p, ograd_.data(), data_.data(), max.data());
    SumGradientRows(p, true, ograd_.data(), mean.data());
    SumGradientRows(p, false, ograd_.data(), sum.data());
    std::vector<float> max_expected(data_.size()), sum_expected = max_expected;
    std::vector<double> mean_expected(data_.size());
    p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
      int64_t first = -1;
      p.ForEachElement(window, [&](int64_t i) {
        if (first < 0 || data_[i] > data_[first]) first = i;
        sum_expected[i] += ograd_[position];
        mean_expected[i] += double{ograd_[position]} / static_cast<double>(window.divisor);
      });
      if (first >= 0) max_expected[first] += ograd_[position];
    });
    EXPECT_EQ(max, max_expected);
    EXPECT_EQ(sum, sum_expected);
    for (size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(mean[i], mean_expected[i], 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, PoolingRowsTest, testing::ValuesIn(kCases), [](const auto& info) {
  const Case& c = info.param;
  return absl::StrCat(c.height, "x", c.width, "_kernel", c.kernel, "_stride", c.stride, "_pad",
                      c.pad, c.full ? "_full" : "");
});

TEST(PoolPlaneTest, AnySize) {
  for (const int64_t size : {1, 31, 32, 33, 100}) {
    std::vector<float> data(size);
    for (int64_t i = 0; i < size; ++i) data[i] = static_cast<float>(i * 7 % size) - 200;
    EXPECT_EQ(PoolPlane<PoolingMax<float>>(data.data(), size), static_cast<float>(size - 201));
    EXPECT_EQ(PoolPlane<PoolingSum<float>>(data.data(), size),
              static_cast<float>(size * (size - 1) / 2 - 200 * size));
  }
}

}  // namespace
}  // namespace cooper
