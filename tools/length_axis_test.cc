#include "tools/length_axis.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

TEST(LengthAxisTest, ShortLengthsHaveABinEach) {
  const std::vector<int64_t> lengths = {3, 1, 5, 3};
  const LengthAxis axis = MakeLengthAxis(lengths, 10);
  EXPECT_EQ(axis.bin_width, 1);
  EXPECT_EQ(axis.end(), 5);
  EXPECT_EQ(axis.longest, 5);
  EXPECT_EQ(axis.beyond, 0);
  EXPECT_THAT(CountByBin(axis, lengths), ElementsAre(1, 0, 2, 0, 1));
}

TEST(LengthAxisTest, LongOnesShareBinsOfRoundWidth) {
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length <= 101; ++length) lengths.push_back(length);
  const LengthAxis axis = MakeLengthAxis(lengths, 6);
  EXPECT_EQ(axis.bin_width, 20);
  EXPECT_EQ(axis.end(), 120);
  EXPECT_THAT(CountByBin(axis, lengths), ElementsAre(20, 20, 20, 20, 20, 1));
}

TEST(LengthAxisTest, AFewVeryLongOnesAreBeyond) {
  std::vector<int64_t> lengths(1000, 7);
  lengths.push_back(1000000000);
  const LengthAxis axis = MakeLengthAxis(lengths, 50);
  EXPECT_EQ(axis.end(), 7);
  EXPECT_EQ(axis.longest, 1000000000);
  EXPECT_EQ(axis.beyond, 1);
  EXPECT_THAT(CountByBin(axis, lengths), ElementsAre(0, 0, 0, 0, 0, 0, 1000));
}

TEST(LengthAxisTest, TwiceTheCommonLengthIsShown) {
  std::vector<int64_t> lengths(1000, 10);
  lengths.push_back(20);
  EXPECT_EQ(MakeLengthAxis(lengths, 50).end(), 20);
  lengths.back() = 21;
  EXPECT_EQ(MakeLengthAxis(lengths, 50).end(), 10);
}

TEST(LengthAxisTest, OfFewLengthsNoneIsBeyond) {
  EXPECT_EQ(MakeLengthAxis({3, 3, 10}, 50).end(), 10);
  EXPECT_EQ(MakeLengthAxis({1, 1000}, 50).beyond, 0);
}

TEST(LengthAxisTest, ZeroIsInTheFirstBin) {
  const LengthAxis axis = MakeLengthAxis({0, 0}, 50);
  EXPECT_EQ(axis.end(), 1);
  EXPECT_THAT(CountByBin(axis, {0, 0}), ElementsAre(2));
}

TEST(LengthAxisTest, OneHugeLengthHasItsBin) {
  const std::vector<int64_t> lengths = {1000000000};
  const LengthAxis axis = MakeLengthAxis(lengths, 50);
  EXPECT_EQ(axis.num_bins, 50);
  EXPECT_EQ(axis.end(), 1000000000);
  EXPECT_EQ(CountByBin(axis, lengths).back(), 1);
}

}  // namespace
}  // namespace cooper
