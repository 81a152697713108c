#include "io/iterators/prefetching_iter.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"
#include "io/batch/iter_fixtures.h"
#include "io/batch/key_values.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Sources = std::vector<std::unique_ptr<DataIter>>;

std::unique_ptr<DataIter> Rows(int64_t rows, NDArrayIterOptions options = {}) {
  return *NDArrayIter::Create({{"data", *NDArray::Zeros({rows})}},
                              {{"label", *NDArray::Zeros({rows})}}, std::move(options));
}

std::unique_ptr<PrefetchingIter> Make(std::unique_ptr<DataIter> a,
                                      std::unique_ptr<DataIter> b = nullptr,
                                      PrefetchingIterOptions options = {}) {
  Sources sources;
  sources.push_back(std::move(a));
  if (b != nullptr) sources.push_back(std::move(b));
  auto iter = PrefetchingIter::Create(std::move(sources), std::move(options));
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

// Fails at the given calls of Next(), counted from 0; has `size` batches an epoch.
class FailingIter : public DataIter {
 public:
  FailingIter(std::vector<int> failures, int64_t size)
      : failures_(std::move(failures)), size_(size) {}

  absl::StatusOr<std::optional<DataBatch>> Next() override {
    for (int failure : failures_) {
      if (failure == calls_) {
        ++calls_;
        return absl::DataLossError("bad record");
      }
    }
    ++calls_;
    if (next_ == size_) return std::nullopt;
    DataBatch batch;
    batch.index = {next_++};
    return batch;
  }
  absl::Status Reset() override {
    next_ = 0;
    return absl::OkStatus();
  }
  const std::vector<DataDesc>& provide_data() const override { return descs_; }
  const std::vector<DataDesc>& provide_label() const override { return descs_; }
  int64_t batch_size() const override { return 1; }

 private:
  const std::vector<int> failures_;
  const int64_t size_;
  const std::vector<DataDesc> descs_;
  int calls_ = 0;
  int64_t next_ = 0;
};

// Delegates to another iterator, for tests that change a part of it.
class ForwardingIter : public DataIter {
 public:
  explicit ForwardingIter(std::unique_ptr<DataIter> iter) : iter_(std::move(iter)) {}

  absl::StatusOr<std::optional<DataBatch>> Next() override { return iter_->Next(); }
  absl::Status Reset() override { return iter_->Reset(); }
  const std::vector<DataDesc>& provide_data() const override { return iter_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return iter_->provide_label(); }
  int64_t batch_size() const override { return iter_->batch_size(); }
  absl::StatusOr<std::string> SaveState() const override { return iter_->SaveState(); }
  absl::Status LoadState(absl::string_view state) override { return iter_->LoadState(state); }

 private:
  const std::unique_ptr<DataIter> iter_;
};

// Counts the calls of another iterator's Next().
class CountingIter : public ForwardingIter {
 public:
  CountingIter(std::unique_ptr<DataIter> iter, std::atomic<int>* calls)
      : ForwardingIter(std::move(iter)), calls_(calls) {}

  absl::StatusOr<std::optional<DataBatch>> Next() override {
    auto batch = ForwardingIter::Next();
    ++*calls_;
    return batch;
  }

 private:
  std::atomic<int>* const calls_;
};

TEST(PrefetchingIterTest, GivesTheBatchesOfItsSource) {
  for (int depth : {1, 2, 100}) {
    const auto iter = Make(Rows(7), nullptr, {.depth = depth});
    for (int epoch = 0; epoch < 3; ++epoch) {
      EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1, 2, 3, 4, 5, 6));
      EXPECT_THAT(FirstRows(*iter), ElementsAre());
      COOPER_ASSERT_OK(iter->Reset());
    }
    COOPER_ASSERT_OK(iter->Next());
    COOPER_ASSERT_OK(iter->Reset());
    EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  }
}

TEST(PrefetchingIterTest, KeepsBucketKeyIdsAndLengths) {
  auto source =
      BucketSentenceIter::Create({{1}, {1}, {1, 2}, {1, 2}}, 2, {.common = {.shuffle = false}});
  COOPER_ASSERT_OK(source);
  const auto iter = Make(*std::move(source));
  EXPECT_EQ(iter->default_bucket_key(), BucketKey(2));
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(1, 2));
  EXPECT_EQ(iter->bucket_shapes(1)->data_shapes[0].shape, Shape({2, 1}));
  EXPECT_EQ(iter->bucket_shapes(1)->label_shapes[0].shape, Shape({2, 1}));
  EXPECT_EQ(iter->bucket_shapes(3).status().code(), absl::StatusCode::kNotFound);
  COOPER_ASSERT_OK_AND_ASSIGN(std::optional<DataBatch> batch, iter->Next());
  EXPECT_EQ(batch->bucket_key, BucketKey(1));
  COOPER_ASSERT_OK_AND_ASSIGN(batch, iter->Next());
  EXPECT_EQ(batch->bucket_key, BucketKey(2));
  EXPECT_THAT(batch->index, ElementsAre(2, 3));
  EXPECT_THAT(batch->lengths, ElementsAre(2, 2));
  EXPECT_EQ(batch->provide_data[0].shape, Shape({2, 2}));
}

TEST(PrefetchingIterTest, JoinsAndRenamesSeveralSources) {
  const auto iter = Make(Rows(3), Rows(3),
                         {.rename_data = {{{"data", "d1"}}, {{"data", "d2"}}},
                          .rename_label = {{{"label", "l1"}}, {{"label", "l2"}}}});
  EXPECT_EQ(DescsToString(iter->provide_data()), "d1 (1,) float32 NCHW, d2 (1,) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "l1 (1,) float32 NCHW, l2 (1,) float32 NCHW");
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
  EXPECT_EQ(batch->data.size(), 2);
  EXPECT_EQ(batch->label.size(), 2);
  EXPECT_EQ(batch->provide_data[1].name, "d2");
  EXPECT_THAT(FirstRows(*iter), ElementsAre(1, 2));
}

TEST(PrefetchingIterTest, PassesErrorsOnAndGoesOnAfterThem) {
  const auto iter = Make(std::make_unique<FailingIter>(std::vector<int>{1, 2, 5}, 3));
  COOPER_EXPECT_OK(iter->Next());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad record")));
  }
  EXPECT_EQ((*iter->Next())->index[0], 1);
  EXPECT_EQ((*iter->Next())->index[0], 2);
  EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad record")));
  EXPECT_THAT(FirstRows(*iter), ElementsAre());
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1, 2));
}

TEST(PrefetchingIterTest, AnErrorOfOneSourceLosesNoBatchOfTheOther) {
  const auto iter = Make(Rows(2), std::make_unique<FailingIter>(std::vector<int>{0}, 2));
  EXPECT_FALSE(iter->Next().ok());
  EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1));
}

TEST(PrefetchingIterTest, ResetWorksWhileAnErrorWaits) {
  const auto iter = Make(std::make_unique<FailingIter>(std::vector<int>{0}, 2));
  COOPER_ASSERT_OK(iter->Reset());
  // The error may have been met before the reset or is met after it.
  absl::StatusOr<std::optional<DataBatch>> batch = iter->Next();
  if (!batch.ok()) batch = iter->Next();
  COOPER_ASSERT_OK(batch);
  EXPECT_EQ((*batch)->index[0], 0);
}

TEST(PrefetchingIterTest, NamesSourcesThatDoNotFit) {
  const auto unequal = Make(Rows(2), Rows(3));
  COOPER_EXPECT_OK(unequal->Next());
  COOPER_EXPECT_OK(unequal->Next());
  EXPECT_THAT(unequal->Next(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("1 of 2 sources have ended")));
  const auto pads = Make(Rows(3, {.batch_size = 2}), Rows(4, {.batch_size = 2}));
  COOPER_EXPECT_OK(pads->Next());
  EXPECT_THAT(pads->Next(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("pad")));
  Sources sizes;
  sizes.push_back(Rows(2));
  sizes.push_back(Rows(2, {.batch_size = 2}));
  EXPECT_THAT(PrefetchingIter::Create(std::move(sizes)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("source 1")));
  EXPECT_THAT(PrefetchingIter::Create({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no source")));
}

TEST(PrefetchingIterTest, ResumesBehindTheLastBatchThatWasTaken) {
  const NDArrayIterOptions options = {.shuffle = true, .seed = 4};
  const auto first = Make(Rows(9, options), nullptr, {.depth = 4});
  FirstRows(*first);
  COOPER_ASSERT_OK(first->Reset());
  for (int i = 0; i < 3; ++i) COOPER_ASSERT_OK(first->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());
  const auto second = Make(Rows(9, options));
  FirstRows(*second);
  COOPER_ASSERT_OK(second->LoadState(state));
  const std::vector<int64_t> rest = FirstRows(*first);
  EXPECT_EQ(rest.size(), 6);
  EXPECT_EQ(FirstRows(*second), rest);
  COOPER_ASSERT_OK(first->Reset());
  COOPER_ASSERT_OK(second->Reset());
  EXPECT_EQ(FirstRows(*second), FirstRows(*first));
}

TEST(PrefetchingIterTest, AStateThatASourceRefusesMovesNoOther) {
  const auto other = Make(Rows(3), Rows(4));
  COOPER_ASSERT_OK(other->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string refused, other->SaveState());
  COOPER_ASSERT_OK_AND_ASSIGN(const KeyValues state, KeyValues::Parse(refused));
  KeyValues incomplete;
  incomplete.SetString("kind", "PrefetchingIter");
  incomplete.SetInt("sources", 2);
  incomplete.SetString("source0", *state.GetString("source0"));
  incomplete.SetInt("batches0", *state.GetInt("batches0"));
  const struct {
    std::string state;
    const char* error;
  } cases[] = {{refused, "the state is of row"}, {incomplete.ToString(), "source1"}};
  for (const auto& c : cases) {
    const auto iter = Make(Rows(3), Rows(3));
    EXPECT_THAT(iter->LoadState(c.state),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
    EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1, 2));
  }
}

// Rows 8 and 9 come first in the next epoch if the reader has reached the end of this one, not if
// only the thread has.
TEST(PrefetchingIterTest, ResetsFromWhereTheReaderStands) {
  const NDArrayIterOptions options = {.batch_size = 8,
                                      .last_batch_handle = LastBatchHandle::kRollOver};
  std::atomic<int> calls = 0;
  const auto iter = Make(std::make_unique<CountingIter>(Rows(10, options), &calls));
  while (calls < 2) std::this_thread::yield();  // the batch and the end
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_THAT(FirstRows(*iter), ElementsAre(0));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto resumed = Make(Rows(10, options));
  COOPER_ASSERT_OK(resumed->LoadState(state));
  for (PrefetchingIter* it : {iter.get(), resumed.get()}) {
    COOPER_ASSERT_OK(it->Reset());
    EXPECT_THAT(FirstRows(*it), ElementsAre(8));
  }
}

TEST(PrefetchingIterTest, HardResetForgetsWhatRollsOver) {
  const NDArrayIterOptions options = {.batch_size = 8,
                                      .last_batch_handle = LastBatchHandle::kRollOver};
  const auto iter = Make(Rows(10, options), Rows(10, options));
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_THAT(FirstRows(*iter), ElementsAre(0));
    COOPER_ASSERT_OK(iter->HardReset());
  }
}

// Serves the batches of another iterator. With `throws` the first attempt to make batch 1 throws;
// with `refuses` the first Reset() fails.
class MoodyIter : public ForwardingIter {
 public:
  MoodyIter(std::unique_ptr<DataIter> iter, bool throws, bool refuses)
      : ForwardingIter(std::move(iter)), throws_(throws), refuses_(refuses) {}

  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (throws_ && calls_++ == 1) throw std::runtime_error("the disk is gone");
    return ForwardingIter::Next();
  }
  absl::Status Reset() override {
    if (std::exchange(refuses_, false)) return absl::UnavailableError("not now");
    return ForwardingIter::Reset();
  }

 private:
  const bool throws_;
  bool refuses_;
  int calls_ = 0;
};

TEST(PrefetchingIterTest, AnExceptionIsAnError) {
  const auto iter = Make(std::make_unique<MoodyIter>(Rows(3), /*throws=*/true, /*refuses=*/false));
  EXPECT_EQ((*iter->Next())->index[0], 0);
  EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kInternal, HasSubstr("the disk is gone")));
  EXPECT_THAT(FirstRows(*iter), ElementsAre(1, 2));
}

// Both sources shuffle with one seed, so equal orders show that they are in the same epoch.
TEST(PrefetchingIterTest, SourcesStayInTheSameEpochThoughOneIsNotReset) {
  const NDArrayIterOptions options = {.shuffle = true, .seed = 3};
  const auto numbered = [&] {
    std::vector<float> numbers(20);
    std::iota(numbers.begin(), numbers.end(), 0.f);
    return NDArrayIter::Create({{"data", *NDArray::FromVector<float>({20}, numbers)}}, {}, options)
        .value();
  };
  const auto one = numbered();
  FirstRows(*one);
  COOPER_ASSERT_OK(one->Reset());
  const std::vector<int64_t> second = FirstRows(*one);
  const auto moody = [&] {
    return std::make_unique<MoodyIter>(numbered(), /*throws=*/false, /*refuses=*/true);
  };
  for (const bool refuses_first : {false, true}) {
    const auto iter = refuses_first ? Make(moody(), numbered()) : Make(numbered(), moody());
    FirstRows(*iter);
    EXPECT_THAT(iter->Reset(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("not now")));
    for (const absl::Status& status : {iter->Next().status(), iter->SaveState().status()}) {
      EXPECT_THAT(status,
                  StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("call Reset again")));
    }
    COOPER_ASSERT_OK(iter->Reset());
    for (const int64_t row : second) {
      COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
      EXPECT_EQ(batch->index[0], row);
      EXPECT_EQ(*batch->data[0].ToVector<float>(), *batch->data[1].ToVector<float>());
    }
  }
}

TEST(PrefetchingIterTest, SaysThatASourceKeepsNoState) {
  const auto iter = Make(std::make_unique<FailingIter>(std::vector<int>{}, 2));
  EXPECT_THAT(iter->SaveState(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("")));
  EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1));
}

// Counts SaveState calls of an iterator whose states are large.
class LargeStateIter : public ForwardingIter {
 public:
  LargeStateIter(std::unique_ptr<DataIter> iter, std::atomic<int>* saves)
      : ForwardingIter(std::move(iter)), saves_(saves) {}

  absl::StatusOr<std::string> SaveState() const override {
    ++*saves_;
    COOPER_ASSIGN_OR_RETURN(const std::string state, ForwardingIter::SaveState());
    return absl::StrCat(std::string(20, ' '), state);
  }
  absl::Status LoadState(absl::string_view state) override {
    return ForwardingIter::LoadState(state.substr(20));
  }

 private:
  std::atomic<int>* const saves_;
};

TEST(PrefetchingIterTest, SavesALargeStateOnceForManyBatches) {
  const NDArrayIterOptions options = {.shuffle = true, .seed = 4};
  std::atomic<int> saves = 0;
  const auto make = [&] {
    return Make(std::make_unique<LargeStateIter>(Rows(3000, options), &saves));
  };
  const auto unbroken = make();
  const std::vector<int64_t> rows = FirstRows(*unbroken);
  EXPECT_LE(saves, 15);  // a batch has 8 bytes, a state about 200
  COOPER_ASSERT_OK(unbroken->Reset());
  const std::vector<int64_t> second = FirstRows(*unbroken);
  auto iter = make();
  std::vector<int64_t> broken;
  for (int i = 0; i < 900; ++i) {
    if (i % 70 == 69) {
      COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
      iter = make();
      COOPER_ASSERT_OK(iter->LoadState(state));
      EXPECT_THAT(iter->SaveState(), IsOkAndHolds(state));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
    broken.push_back(batch->index[0]);
  }
  for (const int64_t row : FirstRows(*iter)) broken.push_back(row);
  EXPECT_EQ(broken, rows);
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_EQ(FirstRows(*iter), second);
}

TEST(PrefetchingIterTest, RefusesAStateBehindTheEnd) {
  const auto iter = Make(Rows(3));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  COOPER_ASSERT_OK_AND_ASSIGN(KeyValues far, KeyValues::Parse(state));
  far.SetInt("batches0", 4);
  EXPECT_THAT(
      iter->LoadState(far.ToString()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the state asks for 4 batches after its saved position, but the epoch has only "
               "3 there"));
  far.SetInt("batches0", -1);
  EXPECT_THAT(iter->LoadState(far.ToString()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "PrefetchingIter: source 0: batches is -1, expected at least 0"));
  EXPECT_THAT(FirstRows(*iter), ElementsAre(0, 1, 2));
}

TEST(PrefetchingIterTest, HoldsAtMostSoManyBytes) {
  std::atomic<int> calls = 0;
  // A batch has 8 bytes.
  const auto iter = Make(std::make_unique<CountingIter>(Rows(100), &calls), nullptr,
                         {.depth = 100, .max_bytes = 20});
  while (calls < 3) std::this_thread::yield();
  for (int i = 1; i <= 20; ++i) {
    COOPER_ASSERT_OK(iter->Next());
    EXPECT_LE(calls, i + 3);
  }
  EXPECT_EQ(iter->statistics().batches, 20);
}

TEST(PrefetchingIterTest, CanBeDestroyedAtAnyTime) {
  for (int taken = 0; taken < 5; ++taken) {
    const auto iter = Make(Rows(3), Rows(3));
    for (int i = 0; i < taken; ++i) COOPER_EXPECT_OK(iter->Next());
  }
}

}  // namespace
}  // namespace cooper
