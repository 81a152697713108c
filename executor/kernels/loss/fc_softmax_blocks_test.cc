#include "executor/kernels/loss/fc_softmax_blocks.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace cooper {
namespace {

constexpr int64_t kTile = kFcSoftmaxTileRows;

TEST(FcSoftmaxBlockRows, IsTheWholeTilesNearestToTheBytes) {
  constexpr int64_t kRow = 1000, kRows = 100 * kTile;
  for (int64_t rows = kTile; rows < 5 * kTile; ++rows) {
    const int64_t block = FcSoftmaxBlockRows({.bytes = rows * kRow}, kRows, kRow);
    EXPECT_EQ(block % kTile, 0) << rows;
    EXPECT_LE(block, rows + kTile / 2) << rows;
    EXPECT_GT(block, rows - kTile / 2 - 1) << rows;
  }
}

TEST(FcSoftmaxBlockRows, HasATileHoweverLargeARowIs) {
  EXPECT_EQ(FcSoftmaxBlockRows({.bytes = 100}, 10 * kTile, 1 << 20), kTile);
}

TEST(FcSoftmaxBlockRows, HasTheTilesThatGoIntoItsLeastRows) {
  EXPECT_EQ(FcSoftmaxBlockRows({.bytes = 100, .min_rows = 3 * kTile - 1}, 10 * kTile, 1 << 20),
            2 * kTile);
}

TEST(FcSoftmaxBlockRows, HasNoMoreThanThereAre) {
  EXPECT_EQ(FcSoftmaxBlockRows({.bytes = 1 << 20, .min_rows = kTile}, 7, 4), 7);
}

TEST(FcSoftmaxBlockRows, TakesRowsWithoutElements) {
  EXPECT_EQ(FcSoftmaxBlockRows({.bytes = 1 << 20}, 7, 0), 7);
}

}  // namespace
}  // namespace cooper
