// Tests Score and Predict of a chain bound for training: each module runs a plan of its own,
// without gradients.

#include <memory>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/function_module.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kRows = 6;

DataBatch BatchOf(int64_t length, uint64_t seed, int64_t rows = kRows) {
  return {.data = {RandomArray({rows, length, 3}, seed)},
          .label = {Classes(rows, 2, seed)},
          .bucket_key = length,
          .provide_data = {{.name = "data", .shape = {rows, length, 3}, .layout = "NTC"}},
          .provide_label = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

// A network with what distinguishes training from evaluation: batch statistics with their moving
// means, and dropout.
Symbol Encoder(const BucketKey&) {
  const Symbol mean = Op("mean", {.inputs = {Symbol::Variable("data")}, .attrs = {{"axis", "1"}}});
  const Symbol wide = op::FullyConnected(mean, {.num_hidden = 40, .name = "wide"});
  const Symbol even = op::BatchNorm(wide, {.fix_gamma = false, .name = "norm"});
  return op::Dropout(op::Activation(even, {.act_type = "tanh"}), {.p = 0.5, .name = "code"});
}

// A bucketed encoder, a function that flips signs, and a classifier.
std::unique_ptr<SequentialModule> MakeChain(bool for_training = true) {
  auto chain = std::make_unique<SequentialModule>();
  COOPER_EXPECT_OK(chain->Add(*BucketingModule::Create({.sym_gen =
                                                            [](const BucketKey& key) {
                                                              return BucketSymbol{
                                                                  .symbol = Encoder(key),
                                                                  .label_names = {}};
                                                            },
                                                        .default_bucket_key = 4})));
  const auto turn_signs = [](const NDArray& array) {
    std::vector<float> values = Floats(array);
    for (float& value : values) value = -value;
    return NDArray::FromVector(array.shape(), values);
  };
  COOPER_EXPECT_OK(chain->Add(
      *FunctionModule::Create(
          {.forward = [=](const DataBatch& batch, bool) -> absl::StatusOr<std::vector<NDArray>> {
             COOPER_ASSIGN_OR_RETURN(NDArray turned, turn_signs(batch.data[0]));
             return std::vector<NDArray>{turned};
           },
           .backward =
               [=](const DataBatch&, absl::Span<const NDArray>,
                   absl::Span<const NDArray> heads) -> absl::StatusOr<std::vector<NDArray>> {
             COOPER_ASSIGN_OR_RETURN(NDArray turned, turn_signs(heads[0]));
             return std::vector<NDArray>{turned};
           }}),
      {.auto_wiring = true}));
  const Symbol fc =
      op::FullyConnected(Symbol::Variable("features"), {.num_hidden = 2, .name = "fc"});
  COOPER_EXPECT_OK(chain->Add(
      *Module::Create(op::SoftmaxOutput(fc, {.name = "softmax"}), {.data_names = {"features"}}),
      {.take_labels = true, .auto_wiring = true}));
  const DataBatch batch = BatchOf(4, 0);
  COOPER_EXPECT_OK(chain->Bind({.data_shapes = batch.provide_data,
                                .label_shapes = batch.provide_label,
                                .for_training = for_training,
                                .seed = 5}));
  COOPER_EXPECT_OK(chain->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  COOPER_EXPECT_OK(
      chain->InitOptimizer({.optimizer_params = {{"learning_rate", "0.5"}, {"momentum", "0.9"}}}));
  return chain;
}

std::vector<float> Evaluate(BaseModule& model, const DataBatch& batch) {
  COOPER_EXPECT_OK(model.ForwardToEvaluate(batch));
  return Floats((*model.GetOutputs())[0]);
}

TEST(SequentialEvaluationTest, RunsPlansWithoutGradients) {
  auto chain = MakeChain();
  COOPER_ASSERT_OK(chain->ForwardBackward(BatchOf(4, 1)));
  Evaluate(*chain, BatchOf(9, 2));
  const auto& encoder = dynamic_cast<const BucketingModule&>(chain->module(0));
  EXPECT_EQ(encoder.bucket(9), nullptr) << "never bound for training";
  ASSERT_NE(encoder.evaluation_bucket(9), nullptr);
  EXPECT_TRUE(encoder.evaluation_bucket(9)->executor_group()->executor(0).grad_names().empty());
  const auto& classifier = dynamic_cast<const Module&>(chain->module(2));
  EXPECT_GT(classifier.memory(/*to_evaluate=*/true).planned_bytes, 0);
}

TEST(SequentialEvaluationTest, GivesTheBitsOfAChainForInferenceAlone) {
  auto chain = MakeChain();
  COOPER_ASSERT_OK(chain->ForwardBackward(BatchOf(4, 1)));
  COOPER_ASSERT_OK(chain->Update());
  auto inference = MakeChain(/*for_training=*/false);
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, chain->GetParams());
  COOPER_ASSERT_OK(inference->SetParams(params.args, params.auxs));
  for (const int64_t length : {4, 7, 4}) {
    for (const int64_t rows : {kRows, int64_t{2}}) {
      const DataBatch batch = BatchOf(length, 11 + length, rows);
      EXPECT_EQ(Evaluate(*chain, batch), Evaluate(*inference, batch)) << length << ", " << rows;
      EXPECT_EQ(chain->output_shapes()[0].second, Shape({rows, 2}));
    }
  }
}

TEST(SequentialEvaluationTest, TrainingGoesOnAsIfThereHadBeenNone) {
  auto chain = MakeChain(), undisturbed = MakeChain();
  for (int step = 0; step < 4; ++step) {
    const DataBatch batch = BatchOf(4 + step % 2, step);
    COOPER_ASSERT_OK(chain->ForwardBackward(batch));
    COOPER_ASSERT_OK(undisturbed->ForwardBackward(batch));
    const std::vector<float> outputs = Evaluate(*chain, BatchOf(3 + step, 50 + step));
    EXPECT_EQ(Evaluate(*chain, BatchOf(3 + step, 50 + step)), outputs) << "no random number";
    COOPER_ASSERT_OK(chain->Update());
    COOPER_ASSERT_OK(undisturbed->Update());
  }
  ExpectSameParams(*chain, *undisturbed);
}

TEST(SequentialEvaluationTest, WhatDoesNotFitIsToldAsForwardTellsIt) {
  auto chain = MakeChain();
  EXPECT_THAT(chain->ForwardToEvaluate({.data = {RandomArray({4, 8}, 1)}, .bucket_key = 4}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("module 0")));
  Evaluate(*chain, BatchOf(4, 1));
  EXPECT_THAT(chain->Backward(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Forward")));
}

}  // namespace
}  // namespace cooper
