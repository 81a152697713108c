// Tests that Predict returns rows in the order of the samples, whatever order the iterator serves
// them in.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/function_module.h"
#include "module/network/module.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

// PredictBatches is MXNet's predict(merge_batches=False).
TEST(PredictOrderTest, PredictBatchesGivesEachBatchWithoutItsPadding) {
  const Symbol twice =
      Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "2"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(twice, {.label_names = {}}));
  const NDArray data = *NDArray::FromVector<float>({5, 1}, {0, 1, 2, 3, 4});
  COOPER_ASSERT_OK_AND_ASSIGN(auto iter,
                              NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 3}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
  EXPECT_FALSE(module->PredictBatches(*iter).ok());  // InitParams is missing
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batches, module->PredictBatches(*iter));
  ASSERT_EQ(batches.size(), 2u);
  ASSERT_EQ(batches[1].size(), 1u);  // output
  EXPECT_THAT(Floats(batches[0][0]), ElementsAre(0, 2, 4));
  EXPECT_THAT(Floats(batches[1][0]), ElementsAre(6, 8));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto first, module->PredictBatches(*iter, {.num_batch = 1}));
  EXPECT_EQ(first.size(), 1u);
}

// A mask selects rows in each batch, and Predict joins them. Rows of padding cannot be identified.
TEST(PredictOrderTest, RowsThatAMaskKeeps) {
  const Symbol data = Symbol::Variable("data");
  const Symbol mask = Op("_contrib_boolean_mask", {.name = "mask", .inputs = {data, data}});
  const NDArray numbers = *NDArray::FromVector<float>({5}, {1, 0, 0, 0, 5});
  for (const LastBatchHandle last : {LastBatchHandle::kDiscard, LastBatchHandle::kPad}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto iter,
        NDArrayIter::Create({{"data", numbers}}, {}, {.batch_size = 2, .last_batch_handle = last}));
    COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(mask, {.label_names = {}}));
    COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
    COOPER_ASSERT_OK(module->InitParams());
    const auto rows = module->Predict(*iter);
    if (last == LastBatchHandle::kDiscard) {
      COOPER_ASSERT_OK(rows.status());
      EXPECT_THAT(Floats((*rows)[0]), ElementsAre(1));
      continue;
    }
    const char kRefused[] =
        " has rows of some of 2 samples: it is not known which of them belong to the 1 samples "
        "of padding; let the iterator give no padding (kSmaller or kDiscard)";
    EXPECT_THAT(rows.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                        AllOf(HasSubstr("'mask_output'"), HasSubstr(kRefused))));
    EXPECT_THAT(module->PredictBatches(*iter).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(kRefused)));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto several,
      Module::Create(
          mask, {.label_names = {}, .compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)}}}));
  EXPECT_THAT(
      several->Bind({.data_shapes = {{.name = "data", .shape = {4}}}, .for_training = false}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("output 'mask_output': it is not known where in it the "
                               "samples of the batch are, behind _contrib_boolean_mask "
                               "'mask'"),
                     HasSubstr("or bind it to one context"))));
}

// The rows of buckets are returned in the order of the samples, without samples that are too long.
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
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, BucketIter::Create({{.name = "data", .values = sentences}}, {},
                                    {.batch_size = 2,
                                     .buckets = {2, 4},
                                     .common = {.last_batch = BucketIterOptions::LastBatch::kPad,
                                                .sort_batches = 2}}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
  COOPER_ASSERT_OK(module->InitParams());
  std::vector<int64_t> ids;
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> rows,
                              module->Predict(*iter, {.ids = &ids}));
  EXPECT_THAT(ids, ElementsAre(0, 1, 3, 4, 5, 6));
  EXPECT_THAT(Floats(rows[0]), ElementsAre(1, 3, 4, 16, 5, 12));
}

// Returns 3 * data with all axes merged, step by step or sample by sample; and each sample's sum.
Symbol Tripled(bool steps_first_in_data, bool steps_first_in_output) {
  Symbol x = Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "3"}}});
  const Symbol sum =
      Op("sum", {.inputs = {x}, .attrs = {{"axis", steps_first_in_data ? "0" : "1"}}});
  if (steps_first_in_data != steps_first_in_output) x = Op("transpose", {.inputs = {x}});
  return *Symbol::Group({Op("Reshape", {.inputs = {x}, .attrs = {{"shape", "(-1,)"}}}), sum});
}

std::unique_ptr<Module> BoundModule(const Symbol& symbol, const DataIter& iter) {
  auto module = Module::Create(symbol, {.label_names = {}}).value();
  COOPER_EXPECT_OK(module->Bind({.data_shapes = iter.provide_data(), .for_training = false}));
  COOPER_EXPECT_OK(module->InitParams());
  return module;
}

// The rows of each sample are adjacent and in order, whatever order batch and network have, and
// rows of padding are left out.
TEST(PredictOrderTest, RowsOfMergedAxesComeSampleBySample) {
  ForRandomCases(300, [](RandomGenerator& random) {
    std::vector<std::vector<int>> sentences(3 + random.NextBelow(20));
    for (std::vector<int>& sentence : sentences) {
      sentence.resize(1 + random.NextBelow(8));
      for (int& token : sentence) token = static_cast<int>(1 + random.NextBelow(100000));
    }
    sentences[0].resize(8, 7);
    const bool steps_first = random.NextBelow(2) == 0,
               output_steps_first = random.NextBelow(2) == 0;
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto iter,
        BucketIter::Create(
            {{.name = "data", .values = sentences, .layout = steps_first ? "TN" : "NT"}}, {},
            {.batch_size = static_cast<int64_t>(1 + random.NextBelow(5)),
             .buckets = {3, 5, 8},
             .common = {.last_batch = random.NextBelow(2) == 0
                                          ? BucketIterOptions::LastBatch::kPad
                                          : BucketIterOptions::LastBatch::kSmaller,
                        .sort_batches = static_cast<int64_t>(random.NextBelow(3)),
                        .seed = random.NextBelow(100)}}));
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto module,
        BucketingModule::Create({.sym_gen =
                                     [&](const BucketKey&) {
                                       return BucketSymbol{
                                           .symbol = Tripled(steps_first, output_steps_first),
                                           .label_names = {}};
                                     },
                                 .default_bucket_key = 8}));
    COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
    COOPER_ASSERT_OK(module->InitParams());
    std::vector<int64_t> ids;
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs,
                                module->Predict(*iter, {.ids = &ids}));
    const std::vector<float> rows = Floats(outputs[0]), sums = Floats(outputs[1]);
    ASSERT_EQ(rows.size(), ids.size());
    ASSERT_EQ(sums.size(), sentences.size());
    size_t at = 0;
    for (size_t id = 0; id < sentences.size(); ++id) {
      const size_t length = sentences[id].size();
      for (size_t t = 0; t < (length <= 3 ? 3u : length <= 5 ? 5u : 8u); ++t, ++at) {
        ASSERT_LT(at, ids.size());
        ASSERT_EQ(ids[at], static_cast<int64_t>(id));
        ASSERT_EQ(rows[at], t < length ? 3.0f * static_cast<float>(sentences[id][t]) : 0.0f);
      }
      const int64_t sum = std::accumulate(sentences[id].begin(), sentences[id].end(), int64_t{0});
      ASSERT_EQ(sums[id], static_cast<float>(3 * sum));
    }
    ASSERT_EQ(at, ids.size());
  });
}

// The batch axis may be merged with axes on both sides of it.
TEST(PredictOrderTest, FindsSamplesBetweenOtherAxes) {
  std::vector<float> values(6 * 2 * 5);
  std::iota(values.begin(), values.end(), 0.0f);
  const NDArray data = *NDArray::FromVector<float>({6, 2, 5}, values);
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 4, .shuffle = true}));
  const Symbol moved =
      Op("transpose", {.inputs = {Symbol::Variable("data")}, .attrs = {{"axes", "(1, 0, 2)"}}});
  auto module =
      BoundModule(Op("Reshape", {.inputs = {moved}, .attrs = {{"shape", "(-1,)"}}}), *iter);
  std::vector<int64_t> ids;
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> rows,
                              module->Predict(*iter, {.ids = &ids}));
  EXPECT_EQ(Floats(rows[0]), values);
  ASSERT_EQ(ids.size(), values.size());
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<int64_t>(i / 10));
}

// The output's first axis has as many steps as two batches have samples; its samples are along axis
// 1.
TEST(PredictOrderTest, SamplesMayBeAlongAnotherAxis) {
  std::vector<float> values(5 * 6);
  std::iota(values.begin(), values.end(), 0.0f);
  const NDArray data = *NDArray::FromVector<float>({5, 6}, values);
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 3, .shuffle = true}));
  auto module = BoundModule(Op("transpose", {.inputs = {Symbol::Variable("data")}}), *iter);
  for (const bool input_order : {true, false}) {
    std::vector<int64_t> ids;
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> steps,
                                module->Predict(*iter, {.input_order = input_order, .ids = &ids}));
    EXPECT_EQ(steps[0].shape(), Shape({6, 5}));
    EXPECT_EQ(std::is_sorted(ids.begin(), ids.end()), input_order);
    EXPECT_THAT(ids, testing::UnorderedElementsAre(0, 1, 2, 3, 4));
    for (size_t t = 0; t < 6; ++t) {
      for (size_t n = 0; n < 5; ++n) {
        EXPECT_EQ(Floats(steps[0])[t * 5 + n], values[static_cast<size_t>(ids[n]) * 6 + t]);
      }
    }
  }
  COOPER_ASSERT_OK(module->IterPredict(
      *iter, [](const std::vector<NDArray>& outputs, int64_t nbatch, const DataBatch&) {
        EXPECT_EQ(outputs[0].shape(), Shape({6, nbatch == 0 ? 3 : 2}));
        return absl::OkStatus();
      }));
}

// A mean has no samples, so that each batch keeps its value, including a batch with padding.
TEST(PredictOrderTest, MeansOfPaddedBatchesStay) {
  const NDArray data = *NDArray::FromVector<float>({5, 1}, {0, 1, 2, 3, 4});
  COOPER_ASSERT_OK_AND_ASSIGN(auto iter,
                              NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 2}));
  auto module = BoundModule(Op("mean", {.inputs = {Symbol::Variable("data")}}), *iter);
  std::vector<int64_t> ids = {1};
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> means,
                              module->Predict(*iter, {.ids = &ids}));
  EXPECT_THAT(Floats(means[0]), ElementsAre(0.5, 2.5, 2));  // the last one is of 4 and 0
  EXPECT_TRUE(ids.empty());
}

// Returns a module without a graph that reshapes the data to `columns` columns (0: to one axis).
std::unique_ptr<FunctionModule> InRows(int64_t columns, const DataIter& iter) {
  const auto shape_of = [columns](const Shape& data) {
    const int64_t size = data.num_elements();
    return columns == 0 ? Shape({size}) : Shape({size / columns, columns});
  };
  auto module = *FunctionModule::Create(
      {.output_shapes = [=](absl::Span<const DataDesc> data) -> absl::StatusOr<std::vector<Shape>> {
         return std::vector{shape_of(data[0].shape)};
       },
       .forward = [=](const DataBatch& batch, bool) -> absl::StatusOr<std::vector<NDArray>> {
         const NDArray& data = batch.data[0];
         COOPER_ASSIGN_OR_RETURN(NDArray rows, data.Reshape(shape_of(data.shape())));
         return std::vector{std::move(rows)};
       }});
  COOPER_EXPECT_OK(module->Bind({.data_shapes = iter.provide_data(), .for_training = false}));
  return module;
}

// For some batches the order of an output's rows cannot be determined. That is no error if the
// order makes no difference or if another batch shows it.
TEST(PredictOrderTest, SaysWhereItCannotTell) {
  const std::vector<float> turning = {1, 1, 1, 2, 2, 2, 2, 1};
  const auto predict = [](const std::vector<float>& values) {
    const auto rows = static_cast<int64_t>(values.size() / 2);
    const NDArray data = *NDArray::FromVector<float>({rows, 2}, values);
    auto iter = *NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 4});
    return InRows(0, *iter)->Predict(*iter);
  };
  EXPECT_THAT(predict(turning),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("of shape (8,) for 4 samples: it is not known which row")));
  std::vector<float> with_another = turning;
  for (float value = 3; value < 11; ++value) with_another.push_back(value);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> told, predict(with_another));
  EXPECT_EQ(Floats(told[0]), with_another);
  const std::vector<float> equal(8, 5.0f);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> same, predict(equal));
  EXPECT_EQ(Floats(same[0]), equal);
}

// The rows of several samples are merged, and nothing tells which ones are padding.
TEST(PredictOrderTest, IterPredictSaysWhatItCannotCut) {
  const NDArray data = *NDArray::Zeros({3, 4});
  auto iter = *NDArrayIter::Create({{"data", data}}, {}, {.batch_size = 2});
  const auto module = InRows(2, *iter);
  const auto visit = [](const std::vector<NDArray>&, int64_t, const DataBatch&) {
    return absl::OkStatus();
  };
  EXPECT_THAT(module->IterPredict(*iter, visit),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("output 0"), HasSubstr("of shape (4, 2) for 2 samples"),
                             HasSubstr("1 samples of padding"))));
}

}  // namespace
}  // namespace cooper
