#include "module/devices/batch_slices.h"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

TEST(SplitBatchTest, FollowsTheWorkLoads) {
  EXPECT_THAT(*SplitBatch(32, {20, 12}), ElementsAre(BatchSlice{0, 20}, BatchSlice{20, 32}));
  EXPECT_THAT(*SplitBatch(8, {1, 1, 2}),
              ElementsAre(BatchSlice{0, 2}, BatchSlice{2, 4}, BatchSlice{4, 8}));
  EXPECT_THAT(*SplitBatch(5, {7}), ElementsAre(BatchSlice{0, 5}));
}

// Equal loads differ by one row at most; MXNet's rounding would give 2, 2, 2, 2, 0 of 8 to five.
TEST(SplitBatchTest, IsBalanced) {
  for (int64_t batch = 1; batch <= 40; ++batch) {
    for (int64_t devices = 1; devices <= batch; ++devices) {
      auto slices = SplitBatch(batch, std::vector<double>(devices, 0.1));
      ASSERT_TRUE(slices.ok()) << slices.status();
      int64_t end = 0;
      for (const BatchSlice& slice : *slices) {
        EXPECT_EQ(slice.begin, end);
        EXPECT_GE(slice.size(), batch / devices);
        EXPECT_LE(slice.size(), (batch + devices - 1) / devices);
        end = slice.end;
      }
      EXPECT_EQ(end, batch);
    }
  }
}

TEST(SplitBatchTest, NoDeviceIsLeftWithoutRowsWhereThereAreEnough) {
  EXPECT_THAT(*SplitBatch(4, {100, 1}), ElementsAre(BatchSlice{0, 3}, BatchSlice{3, 4}));
  EXPECT_THAT(*SplitBatch(3, {1, 100, 1}),
              ElementsAre(BatchSlice{0, 1}, BatchSlice{1, 2}, BatchSlice{2, 3}));
}

TEST(SplitBatchTest, FewerRowsGoToTheFirstDevices) {
  EXPECT_THAT(*SplitBatch(2, {1, 1, 1}), ElementsAre(BatchSlice{0, 1}, BatchSlice{1, 2}));
  EXPECT_THAT(*SplitBatch(1, {1, 100}), ElementsAre(BatchSlice{0, 1}));
}

TEST(SplitBatchTest, WhatCannotBeSplitIsAnError) {
  EXPECT_THAT(SplitBatch(0, {1, 1}), StatusIs(kInvalidArgument, HasSubstr("a batch of 0 rows")));
  for (double bad : {0.0, -1.0, std::nan("")}) {
    EXPECT_THAT(SplitBatch(4, {1, bad}), StatusIs(kInvalidArgument, HasSubstr("positive")));
  }
}

TEST(SliceTest, PutsBackWhatItTook) {
  RandomGenerator random(1);
  std::vector<float> values(4 * 5 * 6);
  for (float& v : values) v = static_cast<float>(random.NextNormal());
  const NDArray whole = *NDArray::FromVector({4, 5, 6}, values);
  for (int axis = 0; axis < 3; ++axis) {
    const NDArray copy = *NDArray::Zeros({4, 5, 6});
    const int64_t rows = whole.shape()[axis];
    for (const BatchSlice slice : {BatchSlice{0, 1}, BatchSlice{1, rows - 1}, {rows - 1, rows}}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray part, TakeSlice(whole, axis, slice));
      EXPECT_EQ(part.shape()[axis], slice.size());
      COOPER_ASSERT_OK(WriteAxisSlice(part, axis, slice.begin, copy));
    }
    EXPECT_EQ(*copy.ToVector<float>(), values) << axis;
  }
  // Rows of the first axis are where they were.
  EXPECT_EQ(TakeSlice(whole, 0, {1, 3})->raw_data(), whole.At(1)->raw_data());
}

// Rows 0 to 5 are steps 0 and 1 of three samples, in either order.
TEST(SliceTest, FollowsMergedAxes) {
  const NDArray rows = *NDArray::FromVector<float>({6, 1}, {0, 1, 2, 3, 4, 5});
  struct {
    BatchLayout layout;
    std::vector<float> samples;  // the second and the third
  } const kCases[] = {{BatchLayout::Samples(0, /*outer=*/2), {1, 2, 4, 5}},
                      {BatchLayout::Samples(0, 1, /*inner=*/2), {2, 3, 4, 5}}};
  for (const auto& c : kCases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray part, TakeSamples(rows, c.layout, 3, {1, 3}));
    EXPECT_EQ(part.shape(), Shape({4, 1}));
    EXPECT_EQ(*part.ToVector<float>(), c.samples);
    const NDArray copy = *NDArray::Zeros({6, 1});
    COOPER_ASSERT_OK(
        WriteSamples(*TakeSamples(rows, c.layout, 3, {0, 1}), c.layout, 3, {0, 1}, copy));
    COOPER_ASSERT_OK(WriteSamples(part, c.layout, 3, {1, 3}, copy));
    EXPECT_EQ(*copy.ToVector<float>(), *rows.ToVector<float>());
    EXPECT_THAT(TakeSamples(rows, c.layout, 2, {0, 1}),
                StatusIs(kInvalidArgument, HasSubstr("has not 2 samples")));
  }
}

TEST(SliceTest, WhatDoesNotFitIsRefused) {
  const NDArray whole = *NDArray::Zeros({4, 5});
  EXPECT_THAT(TakeSlice(whole, 0, {2, 5}), StatusIs(kInvalidArgument, HasSubstr("[2, 5)")));
  EXPECT_THAT(TakeSlice(whole, 2, {0, 1}), StatusIs(kInvalidArgument, HasSubstr("axis 2")));
  EXPECT_THAT(WriteAxisSlice(*NDArray::Zeros({2, 5}), 0, 3, whole),
              StatusIs(kInvalidArgument, HasSubstr("row 3")));
  EXPECT_THAT(WriteAxisSlice(*NDArray::Zeros({2, 4}), 0, 0, whole),
              StatusIs(kInvalidArgument, HasSubstr("(2, 4)")));
}

}  // namespace
}  // namespace cooper
