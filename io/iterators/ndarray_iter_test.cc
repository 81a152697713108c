#include "io/iterators/ndarray_iter.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using Ids = std::vector<int64_t>;

// Returns an array (rows, 2) of 10 * row and 10 * row + 1.
NDArray Rows(int64_t rows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(10 * i));
    values.push_back(static_cast<float>(10 * i + 1));
  }
  return *NDArray::FromVector<float>({rows, 2}, values);
}

std::unique_ptr<NDArrayIter> Make(int64_t rows, NDArrayIterOptions options) {
  auto iter = NDArrayIter::Create({{"data", Rows(rows)}},
                                  {{"softmax_label", *NDArray::Zeros({rows})}}, std::move(options));
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

struct Batch {
  Ids index;
  int64_t pad;
  friend bool operator==(const Batch&, const Batch&) = default;
};
void PrintTo(const Batch& batch, std::ostream* os) {
  *os << ::testing::PrintToString(batch.index) << " pad " << batch.pad;
}

// Takes all batches and checks that the arrays hold the rows of the index.
std::vector<Batch> CheckedEpoch(NDArrayIter& iter) {
  std::vector<Batch> batches;
  for (const DataBatch& b : Epoch(iter)) {
    std::vector<float> expected;
    for (int64_t row : b.index) {
      expected.push_back(static_cast<float>(10 * row));
      expected.push_back(static_cast<float>(10 * row + 1));
    }
    EXPECT_EQ(*b.data[0].ToVector<float>(), expected);
    EXPECT_EQ(b.label[0].shape(), Shape({iter.batch_size()}));
    batches.push_back({b.index, b.pad});
  }
  return batches;
}

struct Case {
  const char* name;
  LastBatchHandle handle;
  int64_t rows;
  int64_t batch_size;
  std::vector<std::vector<Batch>> epochs;
};

TEST(NDArrayIterTest, HandlesTheLastBatch) {
  const Case cases[] = {
      {"Pad",
       LastBatchHandle::kPad,
       5,
       2,
       {{{{0, 1}, 0}, {{2, 3}, 0}, {{4, 0}, 1}}, {{{0, 1}, 0}, {{2, 3}, 0}, {{4, 0}, 1}}}},
      {"PadExact", LastBatchHandle::kPad, 4, 2, {{{{0, 1}, 0}, {{2, 3}, 0}}}},
      {"PadTwiceAround", LastBatchHandle::kPad, 2, 5, {{{{0, 1, 0, 1, 0}, 3}}}},
      {"Discard",
       LastBatchHandle::kDiscard,
       5,
       2,
       {{{{0, 1}, 0}, {{2, 3}, 0}}, {{{0, 1}, 0}, {{2, 3}, 0}}}},
      {"DiscardAll", LastBatchHandle::kDiscard, 2, 5, {{}, {}}},
      {"RollOver",
       LastBatchHandle::kRollOver,
       5,
       3,
       {{{{0, 1, 2}, 0}},
        {{{3, 4, 0}, 2}, {{1, 2, 3}, 0}},
        {{{4, 0, 1}, 1}, {{2, 3, 4}, 0}},
        {{{0, 1, 2}, 0}}}},
      {"RollOverTinyData",
       LastBatchHandle::kRollOver,
       2,
       3,
       {{}, {{{0, 1, 0}, 2}}, {{{1, 0, 1}, 1}}, {}}},
  };
  for (const Case& c : cases) {
    const auto iter = Make(c.rows, {.batch_size = c.batch_size, .last_batch_handle = c.handle});
    for (const std::vector<Batch>& expected : c.epochs) {
      EXPECT_EQ(CheckedEpoch(*iter), expected) << c.name;
      EXPECT_EQ(CheckedEpoch(*iter), std::vector<Batch>()) << c.name;
      COOPER_ASSERT_OK(iter->Reset());
    }
  }
}

TEST(NDArrayIterTest, ResetInTheMiddleRollsNothingOver) {
  const auto iter = Make(5, {.batch_size = 2, .last_batch_handle = LastBatchHandle::kRollOver});
  COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_EQ(CheckedEpoch(*iter)[0], (Batch{{0, 1}, 0}));
  COOPER_ASSERT_OK(iter->HardReset());
  EXPECT_EQ(CheckedEpoch(*iter)[0], (Batch{{0, 1}, 0}));
}

TEST(NDArrayIterTest, DescribesItsArrays) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray ints, NDArray::Zeros({4}, DType::kInt32));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto iter,
      NDArrayIter::Create(NameArrays(std::map<std::string, NDArray>{{"b", Rows(4)}, {"a", ints}}),
                          {}, {.batch_size = 3}));
  EXPECT_EQ(DescsToString(iter->provide_data()), "a (3,) int32 NCHW, b (3, 2) float32 NCHW");
  EXPECT_TRUE(iter->provide_label().empty());
  EXPECT_FALSE(iter->default_bucket_key().has_value());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
  EXPECT_EQ(batch->data.size(), 2);
  EXPECT_TRUE(batch->label.empty());
}

TEST(NDArrayIterTest, NamesListsAsMXNetDoes) {
  EXPECT_EQ(NameArrays({Rows(1)}, "data")[0].first, "data");
  const NamedSources two = NameArrays({Rows(1), Rows(2)}, "data");
  EXPECT_EQ(two[0].first, "_0_data");
  EXPECT_EQ(two[1].first, "_1_data");
}

TEST(NDArrayIterTest, ShufflesAllRowsAnewInEachEpoch) {
  const auto iter = Make(20, {.batch_size = 4, .shuffle = true, .seed = 1});
  std::vector<Ids> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    Ids order;
    for (const Batch& batch : CheckedEpoch(*iter)) {
      order.insert(order.end(), batch.index.begin(), batch.index.end());
    }
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 20);
    orders.push_back(order);
    COOPER_ASSERT_OK(iter->Reset());
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
  EXPECT_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
}

TEST(NDArrayIterTest, ResumesInTheMiddleOfAnEpoch) {
  for (LastBatchHandle handle :
       {LastBatchHandle::kPad, LastBatchHandle::kDiscard, LastBatchHandle::kRollOver}) {
    const NDArrayIterOptions options = {
        .batch_size = 3, .shuffle = true, .last_batch_handle = handle, .seed = 7};
    const auto first = Make(11, options);
    CheckedEpoch(*first);
    COOPER_ASSERT_OK(first->Reset());
    COOPER_ASSERT_OK(first->Next());
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());
    NDArrayIterOptions other_seed = options;
    other_seed.seed = 8;
    const auto second = Make(11, other_seed);
    COOPER_ASSERT_OK(second->LoadState(state));
    for (int epoch = 0; epoch < 3; ++epoch) {
      EXPECT_EQ(CheckedEpoch(*first), CheckedEpoch(*second));
      COOPER_ASSERT_OK(first->Reset());
      COOPER_ASSERT_OK(second->Reset());
    }
  }
}

TEST(NDArrayIterTest, RefusesTheStateOfOtherData) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, Make(11, {})->SaveState());
  EXPECT_THAT(Make(12, {})->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("11 rows")));
  // The number of rows is too large to add a batch size to.
  const std::string many = absl::StrReplaceAll(
      state, {{"rows 11", "rows 9223372036854775807"}, {"carried", "carried 0"}});
  EXPECT_THAT(Make(11, {})->LoadState(many),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("9223372036854775807 rows")));
}

TEST(NDArrayIterTest, RefusesTheStateOfOtherOptions) {
  const NDArrayIterOptions options = {.batch_size = 4, .shuffle = false};
  const auto iter = Make(11, options);
  CheckedEpoch(*iter);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto expect_refused = [&](const NDArrayIterOptions& other, const char* text) {
    EXPECT_THAT(Make(11, other)->LoadState(state),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
  };
  expect_refused({.batch_size = 3}, "of batch_size 4, this object has 3");
  expect_refused({.batch_size = 4, .shuffle = true}, "of shuffle 0");
  expect_refused({.batch_size = 4, .last_batch_handle = LastBatchHandle::kDiscard},
                 "of last_batch_handle 0");
  COOPER_EXPECT_OK(Make(11, options)->LoadState(state));
  // States of the version without options.
  COOPER_EXPECT_OK(
      Make(11, options)
          ->LoadState("kind NDArrayIter\nseed 1\nepoch 2\ncursor 4\ncarried \nrows 11\n"));
}

TEST(NDArrayIterTest, ConvertsToTheDTypesThatAreNamed) {
  const NDArray rows = *Rows(2).AsType(DType::kFloat64);
  const NDArray classes = *NDArray::FromVector<int64_t>({2}, {1, (1 << 24) + 1});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto kept,
                              NDArrayIter::Create({{"data", rows}}, {{"label", classes}}));
  EXPECT_EQ(kept->provide_data()[0].dtype, DType::kFloat64);
  EXPECT_EQ(kept->provide_label()[0].dtype, DType::kInt64);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto named,
      NDArrayIter::Create(
          {{"data", rows}}, {{"label", classes}},
          {.batch_size = 2, .data_dtype = DType::kFloat32, .label_dtype = DType::kInt32}));
  EXPECT_EQ(named->provide_data()[0].dtype, DType::kFloat32);
  const std::vector<DataBatch> batches = Epoch(*named);
  EXPECT_EQ(*batches[0].data[0].ToVector<float>(), *Rows(2).ToVector<float>());
  EXPECT_EQ(*batches[0].label[0].ToVector<int32_t>(), (std::vector<int32_t>{1, (1 << 24) + 1}));
  EXPECT_THAT(
      NDArrayIter::Create({{"data", rows}}, {{"label", classes}}, {.label_dtype = DType::kFloat32}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("array 'label': row 1 of (2,) int64 cpu(0) has the value "
                         "16777217, which float32 does not hold")));
}

TEST(NDArrayIterTest, SaysThatABatchIsTooLargeToAllocate) {
  const auto iter = Make(3, {.batch_size = std::numeric_limits<int64_t>::max()});
  EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kResourceExhausted,
                                     HasSubstr("batch of 9223372036854775807 rows")));
}

TEST(NDArrayIterTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(NDArrayIter::Create({}, {}), StatusIs(code, HasSubstr("no data")));
  EXPECT_THAT(NDArrayIter::Create({{"x", Rows(2)}}, {}, {.batch_size = 0}),
              StatusIs(code, HasSubstr("batch_size is 0")));
  EXPECT_THAT(NDArrayIter::Create({{"x", Rows(2)}}, {{"y", Rows(3)}}),
              StatusIs(code, HasSubstr("'y' has 3 rows, expected 2 as in 'x'")));
  EXPECT_THAT(NDArrayIter::Create({{"x", NDArray()}}, {}), StatusIs(code, HasSubstr("'x'")));
  EXPECT_THAT(NDArrayIter::Create({{"x", Rows(0)}}, {}), StatusIs(code, HasSubstr("'x'")));
  EXPECT_THAT(NDArrayIter::Create({{"x", Rows(2)}}, {}, {.layout = "TN"}),
              StatusIs(code, HasSubstr("layout 'TN' has its batch axis N at 1")));
  COOPER_EXPECT_OK(NDArrayIter::Create({{"x", Rows(2)}}, {}, {.layout = "T"}).status());
  EXPECT_THAT(LastBatchHandleFromName("wrap"), StatusIs(code, HasSubstr("'wrap'")));
}

}  // namespace
}  // namespace cooper
