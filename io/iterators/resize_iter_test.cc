#include "io/iterators/resize_iter.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<NDArrayIter> Rows(int64_t rows, NDArrayIterOptions options = {}) {
  return *NDArrayIter::Create({{"data", *NDArray::Zeros({rows})}}, {}, std::move(options));
}

TEST(ResizeIterTest, CutsOrRepeats) {
  ResizeIter shorter(Rows(3), 2);
  ResizeIter longer(Rows(3), 5);
  ResizeIter keep_going(Rows(3), 2, /*reset_internal=*/false);
  const std::vector<std::vector<int64_t>> going_on_epochs = {{0, 1}, {2, 0}, {1, 2}};
  for (const std::vector<int64_t>& expected : going_on_epochs) {
    EXPECT_THAT(FirstRows(shorter), ElementsAre(0, 1));
    EXPECT_THAT(FirstRows(longer), ElementsAre(0, 1, 2, 0, 1));
    EXPECT_EQ(FirstRows(keep_going), expected);
    for (ResizeIter* iter : {&shorter, &longer, &keep_going}) COOPER_ASSERT_OK(iter->Reset());
  }
}

// Rows 8 and 9 are left over from the first epoch.
TEST(ResizeIterTest, HardResetForgetsWhatRollsOver) {
  const NDArrayIterOptions options = {.batch_size = 8,
                                      .last_batch_handle = LastBatchHandle::kRollOver};
  ResizeIter iter(Rows(10, options), 2);
  EXPECT_THAT(FirstRows(iter), ElementsAre(0, 8));
  COOPER_ASSERT_OK(iter.HardReset());
  EXPECT_THAT(FirstRows(iter), ElementsAre(0, 8));
  ResizeIter keep_going(Rows(3), 2, /*reset_internal=*/false);
  EXPECT_THAT(FirstRows(keep_going), ElementsAre(0, 1));
  COOPER_ASSERT_OK(keep_going.HardReset());
  EXPECT_THAT(FirstRows(keep_going), ElementsAre(2, 0));
}

TEST(ResizeIterTest, KeepsBucketKeys) {
  auto inner = BucketSentenceIter::Create({{1}, {1}, {1, 2}, {1, 2}}, 2);
  COOPER_ASSERT_OK(inner);
  ResizeIter iter(*std::move(inner), 3);
  EXPECT_EQ(iter.default_bucket_key(), BucketKey(2));
  EXPECT_THAT(iter.bucket_keys(), ElementsAre(1, 2));
  EXPECT_EQ(iter.batch_size(), 2);
  EXPECT_EQ(iter.provide_data()[0].shape, Shape({2, 2}));
  EXPECT_EQ(iter.bucket_shapes(1)->data_shapes[0].shape, Shape({2, 1}));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter.Next());
  EXPECT_TRUE(batch->bucket_key.has_value());
  EXPECT_EQ(batch->provide_data[0].shape, batch->data[0].shape());
}

TEST(ResizeIterTest, ResumesInTheMiddleOfAnEpoch) {
  const NDArrayIterOptions options = {.shuffle = true, .seed = 2};
  ResizeIter first(Rows(5, options), 8, false);
  FirstRows(first);
  COOPER_ASSERT_OK(first.Reset());
  COOPER_ASSERT_OK(first.Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first.SaveState());
  ResizeIter second(Rows(5, options), 8, false);
  COOPER_ASSERT_OK(second.LoadState(state));
  EXPECT_EQ(FirstRows(second), FirstRows(first));
  ResizeIter small(Rows(5), 0);
  EXPECT_THAT(small.LoadState(state), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr("of size 8, this object has 0")));
}

TEST(ResizeIterTest, DoesNotSearchForeverInAnEmptyIterator) {
  ResizeIter iter(Rows(2, {.batch_size = 3, .last_batch_handle = LastBatchHandle::kDiscard}), 1);
  EXPECT_THAT(iter.Next(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no batch")));
}

}  // namespace
}  // namespace cooper
