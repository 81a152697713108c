#include "executor/kernels/norm/blocked_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/base/shape.h"

namespace cooper {
namespace {

constexpr int kBlock = 8;

// Returns the largest relative error, over the channels, of a sum of equal numbers.
double RelativeError(const Shape& shape, float value) {
  const BlockedExtents e(shape);
  const std::vector<float> data(shape.num_elements(), value);
  double largest = 0;
  for (int64_t k = 0; k < e.blocks; ++k) {
    const auto sum = SumOfBlock<kBlock>(e, k, [&](int64_t i, int /*j*/) { return data[i]; });
    for (int j = 0; j < kBlock; ++j) {
      largest = std::max(largest, std::abs(sum[j] / (e.per_channel() * double{value}) - 1));
    }
  }
  return largest;
}

// The error grows with a quarter of an image, the length of a partial sum, plus the number of
// images; not with their product.
TEST(BlockedStatisticsTest, ErrorOfLongSums) {
  // In a sum of n equal numbers, each addition has a relative error of at most half an epsilon.
  const double half_epsilon = std::numeric_limits<float>::epsilon() / 2;
  constexpr int kImage = 64 * 64, kImages = 64;
  constexpr double kAdditions = kImage / 4.0 + 2 + kImages;
  EXPECT_LE(RelativeError({kImages, 1, 64, 64, kBlock}, 0.1F), half_epsilon * kAdditions);
}

TEST(BlockedStatisticsTest, SumsOfSmallIntegersAreExact) {
  EXPECT_EQ(RelativeError({3, 2, 1, 1, kBlock}, 1), 0);
  EXPECT_EQ(RelativeError({3, 2, 5, 7, kBlock}, 3), 0);
}

}  // namespace
}  // namespace cooper
