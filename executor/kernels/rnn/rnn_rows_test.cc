#include "executor/kernels/rnn/rnn_rows.h"

#include <cstdint>
#include <random>
#include <vector>

#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSteps = 4, kBatch = 3;

// Rows with a length that is too large, one that is negative, and one between.
struct Rows {
  explicit Rows(std::vector<float> values)
      : lengths(std::move(values)),
        scratch(RNNRows::ScratchSize(kSteps, static_cast<int64_t>(lengths.size()))),
        rows({lengths.data(), {static_cast<int64_t>(lengths.size())}, DType::kFloat32}, kSteps,
             static_cast<int64_t>(lengths.size()), scratch.data()) {}

  std::vector<float> lengths;
  std::vector<int64_t> scratch;
  RNNRows rows;
};

TEST(RNNRowsTest, PacksByFallingLength) {
  const Rows batch({2, 7, -1});
  const RNNRows& rows = batch.rows;
  EXPECT_TRUE(rows.has_lengths());
  EXPECT_FALSE(rows.is_whole());
  EXPECT_EQ(rows.longest(), 4);
  EXPECT_EQ(rows.total(), 6);
  std::vector<int64_t> counts, begins, order;
  for (int64_t t = 0; t < kSteps; ++t) {
    counts.push_back(rows.count(t));
    begins.push_back(rows.begin(t));
  }
  for (int64_t place = 0; place < kBatch; ++place) order.push_back(rows.row(place));
  EXPECT_THAT(counts, ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(begins, ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(order, ElementsAre(1, 0, 2));
  EXPECT_TRUE(rows.IsFirst(0, 0, 0));
  EXPECT_FALSE(rows.IsFirst(0, 1, 0));
  EXPECT_TRUE(rows.IsFirst(1, 3, 0));
  EXPECT_TRUE(rows.IsFirst(1, 1, 1));
  EXPECT_FALSE(rows.IsFirst(1, 0, 1));
}

TEST(RNNRowsTest, EqualLengthsLeaveTheOrder) {
  const Rows batch({4, 4, 4});
  EXPECT_TRUE(batch.rows.is_whole());
  const RNNRows without(kSteps, kBatch);
  EXPECT_TRUE(without.is_whole());
  EXPECT_FALSE(without.has_lengths());
  for (const RNNRows* rows : {&batch.rows, &without}) {
    EXPECT_EQ(rows->total(), kSteps * kBatch);
    EXPECT_EQ(rows->longest(), kSteps);
    for (int64_t place = 0; place < kBatch; ++place) EXPECT_EQ(rows->row(place), place);
    for (int64_t t = 0; t < kSteps; ++t) EXPECT_EQ(rows->begin(t), t * kBatch);
  }
}

TEST(RNNRowsTest, BlocksCoverAllPlacesWithEqualWork) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<float> draw(0, kSteps + 1);
  std::vector<float> lengths(100);
  for (float& length : lengths) length = draw(rng);
  const Rows batch(lengths);
  for (int64_t blocks : {1, 2, 3, 7}) {
    EXPECT_EQ(batch.rows.BlockBegin(0, blocks), 0);
    EXPECT_EQ(batch.rows.BlockBegin(blocks, blocks), 100);
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t steps = 0;
      for (int64_t p = batch.rows.BlockBegin(b, blocks); p < batch.rows.BlockBegin(b + 1, blocks);
           ++p) {
        for (int64_t t = 0; t < kSteps; ++t) steps += p < batch.rows.count(t) ? 1 : 0;
      }
      EXPECT_NEAR(static_cast<double>(steps), static_cast<double>(batch.rows.total()) / blocks,
                  kSteps);
    }
  }
}

TEST(RNNRowsTest, PacksAndUnpacks) {
  const Rows batch({2, 4, 0});
  std::vector<float> padded(kSteps * kBatch);
  for (size_t i = 0; i < padded.size(); ++i) padded[i] = static_cast<float>(i);
  std::vector<float> packed(6);
  PackRows(batch.rows, padded.data(), 1, packed.data());
  EXPECT_THAT(packed, ElementsAre(1, 0, 4, 3, 7, 10));

  std::vector<float> out(padded.size(), 100);
  UnpackRows(batch.rows, WriteReq::kAdd, packed.data(), 1, out.data());
  EXPECT_THAT(out, ElementsAre(100, 101, 100, 103, 104, 100, 100, 107, 100, 100, 110, 100));
  UnpackRows(batch.rows, WriteReq::kWrite, packed.data(), 1, out.data());
  EXPECT_THAT(out, ElementsAre(0, 1, 0, 3, 4, 0, 0, 7, 0, 0, 10, 0));
  ZeroPadding(batch.rows, 1, padded.data());
  EXPECT_EQ(padded, out);

  const std::vector<float> state = {-1, -2, -3};
  PackPrevious(batch.rows, 0, state.data(), padded.data(), 1, 1, packed.data());
  EXPECT_THAT(packed, ElementsAre(-2, -1, 1, 0, 4, 7));
  PackPrevious(batch.rows, 1, state.data(), padded.data(), 1, 1, packed.data());
  EXPECT_THAT(packed, ElementsAre(4, 3, 7, -1, 10, -2));

  std::vector<float> sorted(3), unsorted(3, 1);
  SortRows(batch.rows, state.data(), 1, sorted.data());
  EXPECT_THAT(sorted, ElementsAre(-2, -1, -3));
  UnsortRows(batch.rows, WriteReq::kAdd, sorted.data(), 1, unsorted.data());
  EXPECT_THAT(unsorted, ElementsAre(0, -1, -2));
}

}  // namespace
}  // namespace cooper
