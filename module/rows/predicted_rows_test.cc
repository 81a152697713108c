#include "module/rows/predicted_rows.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns two rows per sample, adjacent or in two steps: 10 times its number, and `more`.
std::vector<NDArray> TwoRows(const DataBatch& batch, bool by_step, float more) {
  const std::vector<float> numbers = *batch.data[0].ToVector<float>();
  const size_t n = numbers.size();
  std::vector<float> rows(2 * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t step = 0; step < 2; ++step) {
      rows[by_step ? step * n + i : 2 * i + step] =
          10 * numbers[i] + more * static_cast<float>(step);
    }
  }
  return {*NDArray::FromVector<float>({2 * static_cast<int64_t>(n)}, rows)};
}

// Returns a batch of samples with these numbers.
DataBatch BatchOf(const std::vector<float>& numbers, const std::vector<int64_t>& ids) {
  DataBatch batch;
  batch.data = {*NDArray::FromVector<float>({static_cast<int64_t>(numbers.size())}, numbers)};
  batch.index.assign(ids.begin(), ids.end());
  return batch;
}

absl::StatusOr<std::vector<float>> Joined(const DataBatch& batch, bool by_step,
                                          std::vector<int64_t>* ids, float more = 1,
                                          const std::vector<BatchLayout>& layouts = {}) {
  PredictedRows rows(/*input_order=*/true);
  const std::vector<DataDesc> data = {{.name = "data", .shape = {3}, .layout = "N"}};
  COOPER_RETURN_IF_ERROR(
      rows.Add(batch, data, {}, /*samples=*/3, layouts, TwoRows(batch, by_step, more),
               [&](const DataBatch& turned) -> absl::StatusOr<std::vector<NDArray>> {
                 return TwoRows(turned, by_step, more);
               }));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> joined, rows.Join({"scores"}, ids));
  return joined[0].ToVector<float>();
}

TEST(PredictedRowsTest, FindsTheRowsOfEachSample) {
  for (const bool by_step : {false, true}) {
    std::vector<int64_t> ids;
    EXPECT_THAT(Joined(BatchOf({7, 5, 6}, {2, 0, 1}), by_step, &ids),
                IsOkAndHolds(ElementsAre(50, 51, 60, 61, 70, 71)));
    EXPECT_THAT(ids, ElementsAre(0, 0, 1, 1, 2, 2));
  }
}

TEST(PredictedRowsTest, LeavesOutThePadding) {
  DataBatch batch = BatchOf({7, 5, 6}, {1, 0, -1});
  batch.pad = 1;
  std::vector<int64_t> ids;
  EXPECT_THAT(Joined(batch, /*by_step=*/true, &ids), IsOkAndHolds(ElementsAre(50, 51, 70, 71)));
  EXPECT_THAT(ids, ElementsAre(0, 0, 1, 1));
}

// A known layout is used without computing further batches.
TEST(PredictedRowsTest, TakesTheRowsThatALayoutNames) {
  std::vector<int64_t> ids;
  EXPECT_THAT(Joined(BatchOf({5, 5, 5}, {2, 0, 1}), /*by_step=*/true, &ids, 0.001F,
                     {BatchLayout::Samples(0, /*outer=*/2)}),
              IsOkAndHolds(ElementsAre(50, 50.001F, 50, 50.001F, 50, 50.001F)));
  EXPECT_THAT(ids, ElementsAre(0, 0, 1, 1, 2, 2));
}

// The samples are equal, and their rows differ no more than by rounding, so nothing shows the
// order.
TEST(PredictedRowsTest, SaysWhereItCannotBeTold) {
  std::vector<int64_t> ids;
  EXPECT_THAT(Joined(BatchOf({5, 5, 5}, {2, 0, 1}), /*by_step=*/true, &ids, 0.001F),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("output 0 'scores'"),
                             HasSubstr("it is not known which row belongs to which sample"))));
}

TEST(PredictedRowsTest, TakesRowsThatAreEqualEitherWay) {
  std::vector<int64_t> ids;
  EXPECT_THAT(Joined(BatchOf({5, 5, 5}, {2, 0, 1}), /*by_step=*/true, &ids, 0),
              IsOkAndHolds(ElementsAre(50, 50, 50, 50, 50, 50)));
}

}  // namespace
}  // namespace cooper
