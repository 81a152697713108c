#include "io/buckets/bucket_order.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Remainder = BucketOrderOptions::Remainder;

// Returns buckets with `sizes[b]` samples in bucket b, numbered consecutively.
BucketOrder Make(const std::vector<int64_t>& sizes, int64_t batch_size,
                 const BucketOrderOptions& options) {
  std::vector<BucketOrder::Bucket> buckets;
  int64_t id = 0;
  for (int64_t size : sizes) {
    buckets.push_back({.batch_size = batch_size, .ids = {}});
    for (int64_t i = 0; i < size; ++i) buckets.back().ids.push_back(id++);
  }
  return BucketOrder(std::move(buckets), options);
}

using Batches = std::vector<std::vector<int64_t>>;

Batches RestOfEpoch(BucketOrder& order) {
  Batches batches;
  for (; !order.AtEnd(); order.Advance()) {
    const BucketOrder::Batch batch = order.Current();
    batches.push_back({batch.ids.begin(), batch.ids.end()});
    batches.back().push_back(-batch.bucket);  // shows the bucket
  }
  return batches;
}

TEST(BucketOrderTest, GoesBucketByBucketWithoutShuffling) {
  BucketOrder order = Make({5, 3}, 2, {.remainder = Remainder::kServe, .shuffle = false});
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_THAT(RestOfEpoch(order),
                ElementsAre(ElementsAre(0, 1, 0), ElementsAre(2, 3, 0), ElementsAre(4, 0),
                            ElementsAre(5, 6, -1), ElementsAre(7, -1)));
    order.NextEpoch();
  }
}

TEST(BucketOrderTest, RollsOverWhatFillsNoBatch) {
  BucketOrder order = Make({5}, 2, {.remainder = Remainder::kRollOver, .shuffle = false});
  EXPECT_THAT(RestOfEpoch(order), ElementsAre(ElementsAre(0, 1, 0), ElementsAre(2, 3, 0)));
  order.NextEpoch();
  EXPECT_THAT(RestOfEpoch(order),
              ElementsAre(ElementsAre(4, 0, 0), ElementsAre(1, 2, 0), ElementsAre(3, 4, 0)));
  order.NextEpoch();
  EXPECT_EQ(order.num_batches(), 2);
  order.Advance();
  order.NextEpoch();  // broken off: nothing rolls over
  EXPECT_THAT(RestOfEpoch(order), ElementsAre(ElementsAre(0, 1, 0), ElementsAre(2, 3, 0)));
}

TEST(BucketOrderTest, AnEpochAloneForgetsWhatRollsOver) {
  BucketOrder order = Make({5}, 2, {.remainder = Remainder::kRollOver, .shuffle = false});
  const Batches epoch = RestOfEpoch(order);
  order.NextEpochAlone();
  EXPECT_EQ(RestOfEpoch(order), epoch);
}

// Returns one bucket of samples 0, 1, ... with these lengths.
BucketOrder MakeSorted(const std::vector<int64_t>& lengths, int64_t batch_size,
                       const BucketOrderOptions& options) {
  BucketOrder::Bucket bucket = {.batch_size = batch_size, .lengths = lengths};
  for (size_t i = 0; i < lengths.size(); ++i) bucket.ids.push_back(static_cast<int64_t>(i));
  return BucketOrder({bucket}, options);
}

TEST(BucketOrderTest, SortsSoManyBatchesByFallingLength) {
  const std::vector<int64_t> lengths = {1, 5, 3, 4, 2, 9, 7};
  const auto batches = [&](int64_t sort_batches) {
    BucketOrder order = MakeSorted(
        lengths, 2,
        {.remainder = Remainder::kServe, .shuffle = false, .sort_batches = sort_batches});
    return RestOfEpoch(order);
  };
  EXPECT_THAT(batches(1), ElementsAre(ElementsAre(1, 0, 0), ElementsAre(3, 2, 0),
                                      ElementsAre(5, 4, 0), ElementsAre(6, 0)));
  EXPECT_THAT(batches(2), ElementsAre(ElementsAre(1, 3, 0), ElementsAre(2, 0, 0),
                                      ElementsAre(5, 4, 0), ElementsAre(6, 0)));
  EXPECT_THAT(batches(100), ElementsAre(ElementsAre(5, 1, 0), ElementsAre(3, 2, 0),
                                        ElementsAre(4, 0, 0), ElementsAre(6, 0)));
}

TEST(BucketOrderTest, DealsSortedStepsToTheParts) {
  for (int64_t part = 0; part < 2; ++part) {
    BucketOrder order = MakeSorted({1, 2, 3, 4, 5, 6}, 2,
                                   {.remainder = Remainder::kServe,
                                    .shuffle = false,
                                    .sort_batches = 1,
                                    .part_index = part,
                                    .num_parts = 2});
    if (part == 0) {
      EXPECT_THAT(RestOfEpoch(order), ElementsAre(ElementsAre(3, 1, 0), ElementsAre(5, 4, 0)));
    } else {
      EXPECT_THAT(RestOfEpoch(order), ElementsAre(ElementsAre(2, 0, 0), ElementsAre(0)));
    }
  }
}

// Rolled-over samples come in the next epoch: over all epochs every sample comes equally often,
// except those that wait at the end.
TEST(BucketOrderTest, RollingOverLosesNoSample) {
  RandomGenerator random(11);
  for (int round = 0; round < 100; ++round) {
    const std::vector<int64_t> sizes = {static_cast<int64_t>(1 + random.NextBelow(9)),
                                        static_cast<int64_t>(random.NextBelow(20))};
    const int64_t batch_size = static_cast<int64_t>(1 + random.NextBelow(6));
    const uint64_t seed = random.NextUint64();
    SCOPED_TRACE(testing::Message() << sizes[0] << ", " << sizes[1] << " samples, batch_size "
                                    << batch_size << ", seed " << seed);
    BucketOrder order = Make(sizes, batch_size, {.remainder = Remainder::kRollOver, .seed = seed});
    std::map<int64_t, int> times;
    const int kEpochs = 7;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (; !order.AtEnd(); order.Advance()) {
        const BucketOrder::Batch batch = order.Current();
        EXPECT_EQ(static_cast<int64_t>(batch.ids.size()), batch_size);
        for (int64_t id : batch.ids) ++times[id];
      }
      order.NextEpoch();
    }
    std::map<int, int> waiting;
    for (int64_t id = 0; id < sizes[0] + sizes[1]; ++id) {
      EXPECT_LE(times[id], kEpochs);
      waiting[id < sizes[0] ? 0 : 1] += kEpochs - times[id];
    }
    for (const auto& [bucket, count] : waiting) EXPECT_LT(count, batch_size);
  }
}

TEST(BucketOrderTest, ResumesAtEveryBatch) {
  // The second bucket fills no batch in one epoch, the third a batch in every second one.
  for (Remainder remainder : {Remainder::kLeaveOut, Remainder::kServe, Remainder::kRollOver}) {
    const BucketOrderOptions options = {.remainder = remainder, .seed = 5};
    BucketOrder whole = Make({7, 1, 2, 11}, 3, options);
    for (int epoch = 0; epoch < 4; ++epoch) {
      for (int64_t step = 0; step <= whole.num_batches(); ++step) {
        KeyValues state;
        whole.SaveTo(22, &state);
        BucketOrder resumed = Make({7, 1, 2, 11}, 3, {.remainder = remainder, .seed = 99});
        COOPER_ASSERT_OK(resumed.LoadFrom("Test", 22, state));
        BucketOrder copy = whole;
        for (int later = 0; later < 3; ++later) {
          EXPECT_EQ(RestOfEpoch(copy), RestOfEpoch(resumed)) << "epoch " << epoch << " + " << later;
          copy.NextEpoch();
          resumed.NextEpoch();
        }
        if (step < whole.num_batches()) whole.Advance();
      }
      whole.NextEpoch();
    }
  }
}

TEST(BucketOrderTest, RefusesImpossibleStates) {
  const BucketOrderOptions options = {.remainder = Remainder::kRollOver, .shuffle = false};
  BucketOrder order = Make({5}, 2, options);
  const auto load = [&](const char* key, const std::vector<int64_t>& value) {
    KeyValues state;
    BucketOrder made = Make({5}, 2, options);
    made.SaveTo(5, &state);
    state.SetInts(key, value);
    return order.LoadFrom("Test", 5, state);
  };
  EXPECT_THAT(load("cursor", {3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Test: state 'cursor' is 3")));
  EXPECT_THAT(load("cursor", {-1}), StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(load("carried", {5}), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("sample 5, which is in no bucket")));
  EXPECT_THAT(load("carried", {4, 3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 samples of one bucket")));
  EXPECT_THAT(load("batches", {3}), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("3 batches and 5 tokens an epoch")));
  EXPECT_THAT(load("tokens", {6}), StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(load("sort_batches", {2}), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  HasSubstr("state is of sort_batches 2")));
  EXPECT_THAT(load("num_parts", {2}), StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(RestOfEpoch(order), ElementsAre(ElementsAre(0, 1, 0), ElementsAre(2, 3, 0)));
}

TEST(BucketOrderTest, RefusesTheStateOfOtherOptions) {
  // All have equally many batches, so that only the options differ.
  const std::vector<int64_t> sizes = {6, 12};
  KeyValues state;
  Make(sizes, 6, {.remainder = Remainder::kServe}).SaveTo(18, &state);
  const auto load = [&](int64_t batch_size, const BucketOrderOptions& options) {
    return Make(sizes, batch_size, options).LoadFrom("Test", 18, state);
  };
  COOPER_EXPECT_OK(load(6, {.remainder = Remainder::kServe}));
  EXPECT_THAT(load(6, {.remainder = Remainder::kServe, .shuffle = false}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Test: the state is of shuffle 1, this iterator has 0")));
  for (const Remainder remainder : {Remainder::kLeaveOut, Remainder::kRollOver}) {
    EXPECT_THAT(load(6, {.remainder = remainder}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("of remainder (last_batch) kServe, this iterator has k")));
  }
  Make({7, 13}, 7, {.remainder = Remainder::kServe}).SaveTo(20, &state);
  EXPECT_THAT(Make({7, 13}, 8, {.remainder = Remainder::kServe}).LoadFrom("Test", 20, state),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("of batch_size 7 in bucket number 0, this iterator has 8")));
  EXPECT_THAT(Make({20}, 7, {.remainder = Remainder::kServe}).LoadFrom("Test", 20, state),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the state is of 2 buckets, this iterator has 1")));
}

// A state of the version that did not save shuffle, remainder and batch sizes.
TEST(BucketOrderTest, LoadsAStateThatDoesNotNameOptions) {
  COOPER_ASSERT_OK_AND_ASSIGN(const KeyValues state,
                              KeyValues::Parse("batches 2\ncursor 1\nepoch 0\nnum_parts 1\n"
                                               "part_index 0\nseed 0\ntokens 5\n"));
  BucketOrder order = Make({5}, 2, {.shuffle = false});
  COOPER_ASSERT_OK(order.LoadFrom("Test", 5, state));
  EXPECT_THAT(RestOfEpoch(order), ElementsAre(ElementsAre(2, 3, 0)));
}

}  // namespace
}  // namespace cooper
