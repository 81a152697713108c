#include "io/batch/ragged_array.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(RaggedArrayTest, SequencesAreCopied) {
  std::vector<std::vector<int>> sequences = {{1, 2, 3}, {}, {4}};
  const RaggedArray array = sequences;
  sequences.clear();
  ASSERT_EQ(array.size(), 3);
  EXPECT_EQ(array.rank(), 1);
  EXPECT_EQ(array.dtype(), DType::kInt32);
  EXPECT_FALSE(array.is_rows());
  EXPECT_EQ(array.shape(0), Shape({3}));
  EXPECT_EQ(array.shape(1), Shape({0}));
  EXPECT_EQ(static_cast<const int*>(array.data(0))[2], 3);
  EXPECT_EQ(static_cast<const int*>(array.data(2))[0], 4);
}

TEST(RaggedArrayTest, NumbersAreScalars) {
  const RaggedArray array = std::vector<float>{1.5f, 2.5f};
  EXPECT_EQ(array.size(), 2);
  EXPECT_EQ(array.rank(), 0);
  EXPECT_EQ(array.shape(1), Shape());
  EXPECT_EQ(static_cast<const float*>(array.data(1))[0], 2.5f);
}

TEST(RaggedArrayTest, RowsAndArraysAreShared) {
  const NDArray rows = NDArray::FromVector<double>({2, 3}, {1, 2, 3, 4, 5, 6}).value();
  const RaggedArray by_row = rows;
  EXPECT_TRUE(by_row.is_rows());
  EXPECT_EQ(by_row.shape(1), Shape({3}));
  EXPECT_EQ(by_row.data(1), static_cast<const double*>(rows.raw_data()) + 3);

  const RaggedArray arrays =
      std::vector<NDArray>{rows, NDArray::Zeros({1, 5}, DType::kFloat64).value()};
  EXPECT_EQ(arrays.rank(), 2);
  EXPECT_EQ(arrays.shape(1), Shape({1, 5}));
  EXPECT_EQ(arrays.data(0), rows.raw_data());
}

TEST(RaggedArrayTest, WithoutSamples) {
  EXPECT_EQ(RaggedArray().size(), 0);
  EXPECT_EQ(RaggedArray(std::vector<NDArray>{}).size(), 0);
  EXPECT_EQ(RaggedArray(std::vector<std::vector<float>>{}).size(), 0);
}

TEST(RaggedArrayTest, NamesTheSampleThatDiffers) {
  const NDArray matrix = NDArray::Zeros({2, 3}).value();
  EXPECT_THAT(RaggedArray(std::vector<NDArray>{matrix, NDArray::Zeros({2}).value()}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sample 1 is (2,) float32 cpu(0), expected a CPU array of 2 axes "
                                 "of float32, as sample 0 is")));
  EXPECT_THAT(RaggedArray(std::vector<NDArray>{matrix, NDArray()}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sample 1 is null")));
  EXPECT_THAT(RaggedArray(NDArray()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected a CPU array")));
}

}  // namespace
}  // namespace cooper
