// Predict gives rows in the order of the samples, in whatever order an iterator serves them.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/bucket_iter.h"
#include "io/ndarray_iter.h"
#include "module/bucketing_module.h"
#include "module/module.h"
#include "module/module_fixtures.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

TEST(PredictOrderTest, PredictGivesRowsInTheInputsOrder) {
  const Symbol twice =
      Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "2"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(twice, {.label_names = {}}));
  const NDArray data = *NDArray::FromVector<float>({7, 1}, {0, 1, 2, 3, 4, 5, 6});
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 3, .shuffle = true}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
  COOPER_ASSERT_OK(module->InitParams());
  std::vector<int64_t> ids;
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> rows,
                              module->Predict(*iter, {.ids = &ids}));
  EXPECT_THAT(Floats(rows[0]), ElementsAre(0, 2, 4, 6, 8, 10, 12));
  EXPECT_THAT(ids, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> as_served,
                              module->Predict(*iter, {.input_order = false, .ids = &ids}));
  ASSERT_EQ(ids.size(), 7u);
  EXPECT_FALSE(std::is_sorted(ids.begin(), ids.end()));
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(Floats(as_served[0])[i], 2 * ids[i]);
}

// The rows of buckets come back as the samples were given, those that are too long left out.
TEST(PredictOrderTest, PredictRestoresTheOrderThatBucketsHaveChanged) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto module,
      BucketingModule::Create({.sym_gen =
                                   [](const BucketKey&) {
                                     const Symbol sum =
                                         Op("sum", {.inputs = {Symbol::Variable("data")},
                                                    .attrs = {{"axis", "1"}}});
                                     return BucketSymbol{.symbol = sum, .label_names = {}};
                                   },
                               .default_bucket_key = 4}));
  const std::vector<std::vector<int>> sentences = {{1},          {1, 1, 1}, {9, 9, 9, 9, 9}, {2, 2},
                                                   {4, 4, 4, 4}, {5},       {6, 6}};
  COOPER_ASSERT_OK_AND_ASSIGN(auto iter,
                              BucketIter::Create({{.name = "data", .values = sentences}}, {},
                                                 {.batch_size = 2,
                                                  .buckets = {2, 4},
                                                  .last_batch = BucketIterOptions::LastBatch::kPad,
                                                  .sort_batches = 2}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
  COOPER_ASSERT_OK(module->InitParams());
  std::vector<int64_t> ids;
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> rows,
                              module->Predict(*iter, {.ids = &ids}));
  EXPECT_THAT(ids, ElementsAre(0, 1, 3, 4, 5, 6));
  EXPECT_THAT(Floats(rows[0]), ElementsAre(1, 3, 4, 16, 5, 12));
}

}  // namespace
}  // namespace cooper
