#include "executor/kernels/resample/resized_axis.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

std::vector<double> Positions(const ResizedAxis& axis) {
  std::vector<double> positions;
  for (int64_t o = 0; o < axis.out; ++o) positions.push_back(axis.Position(o));
  return positions;
}

TEST(ResizedAxisTest, CornersStayOrEdgesDo) {
  EXPECT_THAT(Positions(ResizedAxis(3, 5, true)), ElementsAre(0, 0.5, 1, 1.5, 2));
  EXPECT_THAT(Positions(ResizedAxis(2, 4, false)), ElementsAre(0, 0.25, 0.75, 1));
  EXPECT_THAT(Positions(ResizedAxis(4, 2, false)), ElementsAre(0.5, 2.5));
  EXPECT_THAT(Positions(ResizedAxis(5, 1, true)), ElementsAre(0));
  EXPECT_THAT(Positions(ResizedAxis(5, 1, false)), ElementsAre(0));
  EXPECT_THAT(Positions(ResizedAxis(1, 3, true)), ElementsAre(0, 0, 0));
  EXPECT_THAT(Positions(ResizedAxis(1, 3, false)), ElementsAre(0, 0, 0));
}

// Each output pixel has the weights of two neighbours, and each pixel finds its output pixels.
TEST(ResizedAxisTest, EveryPixelFindsItsWeights) {
  for (const bool align_corners : {false, true}) {
    for (int64_t in = 1; in < 40; ++in) {
      for (int64_t out = 1; out < 40; ++out) {
        const ResizedAxis axis(in, out, align_corners);
        std::vector<double> found(out);
        for (int64_t i = 0; i < in; ++i) {
          ASSERT_LE(axis.Begin(i), axis.End(i));
          for (int64_t o = 0; o < out; ++o) {
            if (o >= axis.Begin(i) && o < axis.End(i)) {
              found[o] += axis.Weight(o, i);
            } else {
              ASSERT_EQ(axis.Weight(o, i), 0) << in << " to " << out << ", " << i << " in " << o;
            }
          }
        }
        for (double sum : found) ASSERT_THAT(sum, DoubleEq(1)) << in << " to " << out;
      }
    }
  }
}

}  // namespace
}  // namespace cooper
