#include "executor/kernels/detection/roi_points.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace cooper {
namespace {

// Checks that the points outside of [First, End) lie outside of the pixels, and that the size of
// that range is bounded, however large the region is.
TEST(RoiPointsTest, AllPointsInsideAreVisited) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    const auto extent = static_cast<int64_t>(1 + random() % 20);
    const auto bins = static_cast<int64_t>(1 + random() % 5);
    const int64_t sample_ratio = trial % 3 == 0 ? -1 : static_cast<int64_t>(1 + random() % 7);
    const auto first = static_cast<float>(draw(-40, 40));
    const float last = first + static_cast<float>(draw(-5, 60));
    const RoiAxis<float> axis(first, last, 1, trial % 2 == 0, bins, sample_ratio, extent);
    for (int64_t bin = 0; bin < bins; ++bin) {
      const int64_t begin = axis.First(bin), end = axis.End(bin);
      ASSERT_GE(begin, 0);
      for (int64_t i = 0; i < static_cast<int64_t>(axis.points); ++i) {
        RoiPoint<float> point;
        if (!(axis.bin > 0) || !axis.At(bin, i, &point)) continue;
        ASSERT_TRUE(begin <= i && i < end)
            << "point " << i << " of bin " << bin << " of a region " << first << " to " << last;
        ASSERT_TRUE(point.low >= 0 && point.low <= point.high && point.high < extent);
        ASSERT_TRUE(point.weight >= 0 && point.weight <= 1);
      }
    }
  }
}

TEST(RoiPointsTest, OfRegionsThatAreNone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  constexpr int64_t kExtent = 8;
  for (const bool aligned : {false, true}) {
    for (const float first : {-kInfinity, -1e30F, 0.0F, 1e30F, kInfinity, nan}) {
      for (const float last : {-kInfinity, -1e30F, 0.0F, 1e30F, kInfinity, nan}) {
        const RoiAxis<float> axis(first, last, 1, aligned, 2, -1, kExtent);
        for (int64_t bin = 0; bin < 2; ++bin) {
          // Each pixel, with the margin around the image, has at most one point.
          ASSERT_LE(axis.End(bin) - axis.First(bin), 2 * kExtent + 8) << first << " to " << last;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cooper
