// Tests that each pass of Predict and Score covers the same samples, even if the iterator's epochs
// differ.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"
#include "io/buckets/bucket_iter.h"
#include "io/iterators/csv_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/log_lines.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns rows of one column; row i holds i.
NDArray Numbers(int64_t rows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) values.push_back(static_cast<float>(i));
  return *NDArray::FromVector<float>({rows, 1}, values);
}

// Returns the predictions of two passes over the iterator. The network returns its input, so they
// are the samples.
std::vector<std::vector<float>> TwoPasses(DataIter& iter) {
  const Symbol same =
      Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "1"}}});
  const auto module = Module::Create(same, {.label_names = {}}).value();
  COOPER_EXPECT_OK(module->Bind({.data_shapes = iter.provide_data(), .for_training = false}));
  COOPER_EXPECT_OK(module->InitParams());
  std::vector<std::vector<float>> passes;
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<int64_t> ids;
    const auto rows = module->Predict(iter, {.ids = &ids});
    COOPER_EXPECT_OK(rows);
    passes.push_back(Floats((*rows)[0]));
  }
  return passes;
}

TEST(SecondPassTest, RowsOfACsvFile) {
  const std::string path = ::testing::TempDir() + "/second_pass_test.csv";
  COOPER_ASSERT_OK(WriteFileAtomically(path, "0\n1\n2\n3\n4\n5\n6\n"));
  const auto iter = CsvIter::Create({.data_csv = path, .data_shape = {1}, .batch_size = 3}).value();
  const auto all = ElementsAre(0, 1, 2, 3, 4, 5, 6);
  EXPECT_THAT(TwoPasses(*iter), ElementsAre(all, all));
}

TEST(SecondPassTest, RowsThatRollOver) {
  const auto iter =
      NDArrayIter::Create({{"data", Numbers(12)}}, {},
                          {.batch_size = 5, .last_batch_handle = LastBatchHandle::kRollOver})
          .value();
  const auto full_batches = ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  EXPECT_THAT(TwoPasses(*iter), ElementsAre(full_batches, full_batches));
}

TEST(SecondPassTest, SamplesOfBucketsThatRollOver) {
  const auto iter =
      BucketIter::Create(
          {{.name = "data", .values = Numbers(5), .pad_to = {0}}}, {},
          {.batch_size = 2,
           .buckets = {1},
           .common = {.last_batch = BucketIterOptions::LastBatch::kRollOver, .shuffle = false}})
          .value();
  const auto full_batches = ElementsAre(0, 1, 2, 3);
  EXPECT_THAT(TwoPasses(*iter), ElementsAre(full_batches, full_batches));
}

struct UnusedCase {
  const char* name;
  std::function<std::unique_ptr<DataIter>()> make;
  const char* error;    // of Predict; null: Predict returns all rows
  const char* warning;  // of Fit, over two epochs; null: Fit logs none
};

std::unique_ptr<DataIter> Rows(LastBatchHandle last, bool shuffle = false) {
  return NDArrayIter::Create({{"data", Numbers(7)}}, {{"softmax_label", Classes(7, 2, 1)}},
                             {.batch_size = 3, .shuffle = shuffle, .last_batch_handle = last})
      .value();
}

// Serves seven samples with one element and two with two. One sample is longer than both buckets.
std::unique_ptr<DataIter> Buckets(BucketIterOptions options) {
  std::vector<std::vector<int>> samples(10, std::vector<int>(1));
  const NDArray labels = Classes(10, 2, 1);
  samples[3].resize(2);
  samples[5].resize(2);
  samples[8].resize(4);
  if (options.batch_size == 1) options.batch_size = 3;
  options.buckets = {1, 2};
  return BucketIter::Create({{.name = "data", .values = samples}},
                            {{.name = "softmax_label", .values = labels}}, options)
      .value();
}

// Predict returns all rows or fails, and Fit logs which samples it does not train on.
TEST(SecondPassTest, SamplesThatNoBatchHoldsAreTold) {
  using LastBatch = BucketIterOptions::LastBatch;
  const UnusedCase kCases[] = {
      {"RowsPad", [] { return Rows(LastBatchHandle::kPad); }, nullptr, nullptr},
      {"RowsRollOver", [] { return Rows(LastBatchHandle::kRollOver); },
       "no batch holds 1 of 7 samples, which would have no row: 1 that do not fill a batch of 3: "
       "last_batch_handle kPad serves them; or set PredictOptions::ids",
       "no batch of the last epoch held 2 of 7 samples, which rolled over: 2 that do not fill"},
      {"RowsDiscard", [] { return Rows(LastBatchHandle::kDiscard); }, nullptr,
       "no batch of any epoch holds 1 of 7 samples: 1 that do not fill a batch of 3"},
      {"ShuffledRowsDiscard", [] { return Rows(LastBatchHandle::kDiscard, true); }, nullptr,
       nullptr},
      {"Prefetched",
       []() -> std::unique_ptr<DataIter> {
         std::vector<std::unique_ptr<DataIter>> sources;
         sources.push_back(Rows(LastBatchHandle::kRollOver));
         return PrefetchingIter::Create(std::move(sources)).value();
       },
       "no batch holds 1 of 7", "no batch of the last epoch held 2 of 7"},
      {"TooLong", [] { return Buckets({.common = {.last_batch = LastBatch::kPad}}); },
       "no batch holds 1 of 10 samples, which would have no row: 1 that no bucket holds",
       "no batch of any epoch holds 1 of 10 samples: 1 that no bucket holds"},
      {"FewerThanABatch", [] { return Buckets({}); }, "no batch holds 4 of 10",
       "no batch of any epoch holds 3 of 10 samples: 1 that no bucket holds: a larger bucket does, "
       "or too_long kTruncate cuts them; 3 that fill no batch of their bucket in this epoch, 2 of "
       "them in any: last_batch kPad or kSmaller serves them"},
      {"TokenBudget", [] { return Buckets({.common = {.tokens_per_batch = 6}}); },
       "no batch holds 4 of 10", "no batch of any epoch holds 3 of 10 samples"},
      {"Truncated",
       [] {
         return Buckets({.too_long = BucketIterOptions::TooLong::kTruncate,
                         .common = {.last_batch = LastBatch::kPad}});
       },
       nullptr, nullptr},
  };
  for (const UnusedCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto iter = c.make();
    const auto module =
        BucketingModule::Create(
            {.sym_gen = [](const BucketKey&) { return BucketSymbol{.symbol = MeanOverTime()}; },
             .default_bucket_key = iter->default_bucket_key().value_or(BucketKey(1))})
            .value();
    const LogLines log;
    COOPER_EXPECT_OK(module->Fit(*iter, {.num_epoch = 2}));
    if (c.warning == nullptr) {
      EXPECT_THAT(log.lines, Not(Contains(HasSubstr("no batch"))));
    } else {
      EXPECT_THAT(log.lines, Contains(HasSubstr(c.warning)));
    }
    const auto rows = module->Predict(*iter);
    if (c.error == nullptr) {
      COOPER_EXPECT_OK(rows.status());
    } else {
      EXPECT_THAT(rows, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
    }
  }
}

TEST(SecondPassTest, FitTellsWhatItsValidationLeavesOut) {
  for (const LastBatchHandle last : {LastBatchHandle::kRollOver, LastBatchHandle::kPad}) {
    const auto train = Rows(LastBatchHandle::kPad), valid = Rows(last);
    const auto module = Module::Create(MeanOverTime()).value();
    const LogLines log;
    COOPER_EXPECT_OK(module->Fit(*train, {.eval_data = valid.get(), .num_epoch = 1}));
    const auto told = HasSubstr("Fit: no batch of eval_data holds 1 of 7 samples: 1 that do not");
    if (last == LastBatchHandle::kRollOver) {
      EXPECT_THAT(log.lines, Contains(told));
    } else {
      EXPECT_THAT(log.lines, Not(Contains(HasSubstr("no batch"))));
    }
  }
}

TEST(SecondPassTest, Scores) {
  const Symbol loss = Op("LinearRegressionOutput",
                         {.inputs = {Symbol::Variable("data"), Symbol::Variable("label")}});
  auto module = Module::Create(loss, {.label_names = {"label"}}).value();
  const auto iter =
      NDArrayIter::Create({{"data", Numbers(5)}}, {{"label", *NDArray::Zeros({5, 1})}},
                          {.batch_size = 3, .last_batch_handle = LastBatchHandle::kRollOver})
          .value();
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(),
                                 .label_shapes = iter->provide_label(),
                                 .for_training = false}));
  COOPER_ASSERT_OK(module->InitParams());
  const auto metric = Mae({});
  for (int pass = 0; pass < 2; ++pass) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto values, module->Score(*iter, *metric));
    EXPECT_DOUBLE_EQ(values[0].second, 1) << "pass " << pass;  // the mean of 0, 1 and 2
  }
}

}  // namespace
}  // namespace cooper
