// Each pass of Predict and Score is over the same samples, though the iterator's epochs are not.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/bucket_iter.h"
#include "io/csv_iter.h"
#include "io/data_iter.h"
#include "io/ndarray_iter.h"
#include "module/metric/regression.h"
#include "module/module.h"
#include "ndarray/atomic_file.h"
#include "ndarray/ndarray.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// Rows 0, 1, ... of which row i holds i.
NDArray Numbers(int64_t rows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) values.push_back(static_cast<float>(i));
  return *NDArray::FromVector<float>({rows, 1}, values);
}

// What two passes predict.
std::vector<std::vector<float>> TwoPasses(DataIter& iter) {
  const Symbol same =
      Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "1"}}});
  const auto module = Module::Create(same, {.label_names = {}}).value();
  COOPER_EXPECT_OK(module->Bind({.data_shapes = iter.provide_data(), .for_training = false}));
  COOPER_EXPECT_OK(module->InitParams());
  std::vector<std::vector<float>> passes;
  for (int pass = 0; pass < 2; ++pass) {
    const auto rows = module->Predict(iter);
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
  const auto iter = BucketIter::Create({{.name = "data", .values = Numbers(5), .pad_to = {0}}}, {},
                                       {.batch_size = 2,
                                        .buckets = {1},
                                        .last_batch = BucketIterOptions::LastBatch::kRollOver,
                                        .shuffle = false})
                        .value();
  const auto full_batches = ElementsAre(0, 1, 2, 3);
  EXPECT_THAT(TwoPasses(*iter), ElementsAre(full_batches, full_batches));
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
    EXPECT_DOUBLE_EQ(values[0].second, 1) << "pass " << pass;  // of 0, 1 and 2
  }
}

}  // namespace
}  // namespace cooper
