// Tests gradients divided by the contents of a batch: the same step for batches of any size.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// weight * data, with the label -1: for data 1 and weight 0 the gradient of each row is 1.
Symbol Network() {
  const Symbol product = op::FullyConnected(Symbol::Variable("data"),
                                            {.num_hidden = 1, .no_bias = true, .name = "fc"});
  return op::LinearRegressionOutput(product, {.label = Symbol::Variable("label"), .name = "loss"});
}

// Returns a batch whose last `pad` rows have no gradient.
DataBatch Rows(int64_t rows, int64_t pad = 0, std::vector<int64_t> lengths = {}) {
  std::vector<float> labels(static_cast<size_t>(rows), -1);
  for (int64_t i = rows - pad; i < rows; ++i) labels[i] = 0;
  return {.data = {*NDArray::Full({rows, 1}, 1)},
          .label = {*NDArray::FromVector({rows, 1}, labels)},
          .pad = pad,
          .bucket_key = rows,
          .provide_data = {{.name = "data", .shape = {rows, 1}, .layout = "NC"}},
          .provide_label = {{.name = "label", .shape = {rows, 1}, .layout = "NC"}},
          .lengths = std::move(lengths)};
}

// Returns a module for batches of 4 rows whose weight is 0.
std::unique_ptr<BucketingModule> MakeModel(const InitOptimizerOptions& optimizer,
                                           WriteReq grad_req = WriteReq::kWrite) {
  const auto make = [](const BucketKey&) {
    return BucketSymbol{.symbol = Network(), .label_names = {"label"}};
  };
  auto model = BucketingModule::Create({.sym_gen = make, .default_bucket_key = 4}).value();
  const DataBatch four = Rows(4);
  COOPER_EXPECT_OK(model->Bind({.data_shapes = four.provide_data,
                                .label_shapes = four.provide_label,
                                .grad_req = grad_req}));
  COOPER_EXPECT_OK(
      model->InitParams({.arg_params = ArrayMap{{"fc_weight", *NDArray::Zeros({1, 1})}}}));
  COOPER_EXPECT_OK(model->InitOptimizer(optimizer));
  return model;
}

// Returns the weight after one update.
double Step(BucketingModule& model, const std::vector<DataBatch>& batches) {
  for (const DataBatch& batch : batches) {
    COOPER_EXPECT_OK(model.Forward(batch));
    COOPER_EXPECT_OK(model.Backward());
  }
  COOPER_EXPECT_OK(model.Update());
  return model.GetParams()->args.at("fc_weight").ToVector<double>()->front();
}

InitOptimizerOptions Sgd(GradientNormalization normalization) {
  return {.optimizer = "sgd",
          .optimizer_params = {{"learning_rate", "1"}},
          .normalization = normalization};
}

TEST(GradientNormalizationTest, BySamplesABatchOfAnySizeMakesTheSameStep) {
  for (const int64_t rows : {1, 2, 4, 7}) {
    EXPECT_DOUBLE_EQ(Step(*MakeModel(Sgd(GradientNormalization::kSamples)), {Rows(rows)}), -1);
    EXPECT_DOUBLE_EQ(Step(*MakeModel(Sgd(GradientNormalization::kBatchSize)), {Rows(rows)}),
                     -static_cast<double>(rows) / 4);
  }
}

TEST(GradientNormalizationTest, PaddingDoesNotCount) {
  EXPECT_DOUBLE_EQ(Step(*MakeModel(Sgd(GradientNormalization::kSamples)), {Rows(4, /*pad=*/3)}),
                   -1);
}

// 33 rows in batches of 32: the second batch has one new row, and 31 of the first ones again.
TEST(GradientNormalizationTest, RowsThatFillABatchCount) {
  for (const LastBatchHandle handle : {LastBatchHandle::kPad, LastBatchHandle::kRollOver}) {
    const auto iter = NDArrayIter::Create({{"data", *NDArray::Full({33, 1}, 1)}},
                                          {{"label", *NDArray::Full({33, 1}, -1)}},
                                          {.batch_size = 32, .last_batch_handle = handle})
                          .value();
    COOPER_ASSERT_OK(iter->Next());
    if (handle == LastBatchHandle::kRollOver) {
      COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> end, iter->Next());
      ASSERT_FALSE(end.has_value());
      COOPER_ASSERT_OK(iter->Reset());
    }
    COOPER_ASSERT_OK_AND_ASSIGN(std::optional<DataBatch> batch, iter->Next());
    EXPECT_EQ(batch->pad, handle == LastBatchHandle::kPad ? 31 : 1);
    batch->bucket_key = 4;
    EXPECT_DOUBLE_EQ(Step(*MakeModel(Sgd(GradientNormalization::kSamples)), {*batch}), -1);
  }
}

TEST(GradientNormalizationTest, RowsWithoutASampleDoNotCount) {
  DataBatch batch = Rows(4, /*pad=*/3);
  batch.index = {7, -1, -1, -1};
  EXPECT_DOUBLE_EQ(Step(*MakeModel(Sgd(GradientNormalization::kSamples)), {batch}), -1);
}

TEST(GradientNormalizationTest, ByTokens) {
  const auto model = MakeModel(Sgd(GradientNormalization::kTokens));
  EXPECT_DOUBLE_EQ(Step(*model, {Rows(2, 0, {3, 5})}), -2.0 / 8);
  COOPER_ASSERT_OK(model->Forward(Rows(2)));
  EXPECT_THAT(model->Backward(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the batch has no lengths")));
}

TEST(GradientNormalizationTest, SumsOfBatchesCountAllOfThem) {
  const auto model = MakeModel(Sgd(GradientNormalization::kSamples), WriteReq::kAdd);
  EXPECT_DOUBLE_EQ(Step(*model, {Rows(4), Rows(2), Rows(1)}), -1);
  // A batch without an update does not affect the next count.
  COOPER_ASSERT_OK(model->SetParams({{"fc_weight", *NDArray::Zeros({1, 1})}}, {}));
  COOPER_ASSERT_OK(model->Forward(Rows(7)));
  COOPER_ASSERT_OK(model->Backward());
  COOPER_ASSERT_OK(model->ZeroGrads());
  EXPECT_DOUBLE_EQ(Step(*model, {Rows(2)}), -1);
}

TEST(GradientNormalizationTest, ABackwardPassThatFailsDoesNotCount) {
  const auto model = MakeModel(Sgd(GradientNormalization::kSamples), WriteReq::kAdd);
  COOPER_ASSERT_OK(model->Forward(Rows(4)));
  EXPECT_FALSE(model->Backward({NDArray(), NDArray()}).ok());
  COOPER_ASSERT_OK(model->Backward());
  COOPER_ASSERT_OK(model->Update());
  EXPECT_DOUBLE_EQ(model->GetParams()->args.at("fc_weight").ToVector<double>()->front(), -1);
}

TEST(GradientNormalizationTest, OfSeveralForwardsTheLastOneCounts) {
  const auto model = MakeModel(Sgd(GradientNormalization::kSamples));
  COOPER_ASSERT_OK(model->Forward(Rows(7)));
  COOPER_ASSERT_OK(model->Backward());
  EXPECT_DOUBLE_EQ(Step(*model, {Rows(2)}), -1);
}

TEST(GradientNormalizationTest, MultipliesTheGivenScale) {
  InitOptimizerOptions optimizer = Sgd(GradientNormalization::kSamples);
  optimizer.optimizer_params["rescale_grad"] = "0.5";
  EXPECT_DOUBLE_EQ(Step(*MakeModel(optimizer), {Rows(3)}), -0.5);
}

}  // namespace
}  // namespace cooper
