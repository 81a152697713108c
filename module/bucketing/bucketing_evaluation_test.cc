// Tests Score and Predict of modules bound for training: they use plans of their own, without
// gradients, and do not disturb the training.

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr int64_t kRows = 6;

std::vector<DataDesc> DataOf(int64_t length, int64_t rows = kRows) {
  return {{.name = "data", .shape = {rows, length, 3}, .layout = "NTC"}};
}
std::vector<DataDesc> LabelsOf(int64_t rows = kRows) {
  return {{.name = "softmax_label", .shape = {rows}, .layout = "N"}};
}

DataBatch BatchOf(int64_t length, uint64_t seed, int64_t rows = kRows) {
  return {.data = {RandomArray({rows, length, 3}, seed)},
          .label = {Classes(rows, 2, seed)},
          .bucket_key = length,
          .provide_data = DataOf(length, rows),
          .provide_label = LabelsOf(rows)};
}

// A network with everything that distinguishes training from evaluation: dropout, and batch
// statistics with their moving means.
Symbol Network(const BucketKey&) {
  const Symbol mean = Op("mean", {.inputs = {Symbol::Variable("data")}, .attrs = {{"axis", "1"}}});
  const Symbol wide = op::FullyConnected(mean, {.num_hidden = 40, .name = "wide"});
  const Symbol even = op::BatchNorm(wide, {.fix_gamma = false, .name = "norm"});
  const Symbol some = op::Dropout(op::Activation(even, {.act_type = "tanh"}), {.p = 0.5});
  return op::SoftmaxOutput(op::FullyConnected(some, {.num_hidden = 2, .name = "fc"}),
                           {.name = "softmax"});
}

std::unique_ptr<BucketingModule> MakeModel(WriteReq grad_req = WriteReq::kWrite,
                                           bool for_training = true,
                                           BucketingModuleOptions options = {}) {
  options.sym_gen = Network;
  options.default_bucket_key = 4;
  auto model = BucketingModule::Create(std::move(options)).value();
  COOPER_EXPECT_OK(model->Bind({.data_shapes = DataOf(4),
                                .label_shapes = LabelsOf(),
                                .for_training = for_training,
                                .grad_req = grad_req,
                                .seed = 5}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  COOPER_EXPECT_OK(
      model->InitOptimizer({.optimizer_params = {{"learning_rate", "0.5"}, {"momentum", "0.9"}}}));
  return model;
}

std::vector<float> Evaluate(BaseModule& model, const DataBatch& batch) {
  COOPER_EXPECT_OK(model.ForwardToEvaluate(batch));
  return Floats((*model.GetOutputs())[0]);
}

TEST(EvaluationTest, RunsPlansWithoutGradients) {
  auto model = MakeModel();
  COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(4, 1)));
  const int64_t arena = model->group()->arena_bytes();
  Evaluate(*model, BatchOf(4, 2));
  Evaluate(*model, BatchOf(9, 2));
  ASSERT_EQ(model->Report().size(), 2u);
  const BucketReport both = model->Report()[0], evaluated = model->Report()[1];
  EXPECT_EQ(both.key, BucketKey(4));
  EXPECT_GT(both.evaluation.planned_bytes, 0);
  EXPECT_LT(both.evaluation.planned_bytes, both.memory.planned_bytes);
  EXPECT_EQ(evaluated.key, BucketKey(9));
  EXPECT_EQ(evaluated.memory.planned_bytes, 0) << "never bound for training";
  EXPECT_EQ(model->bucket(9), nullptr);
  EXPECT_TRUE(model->evaluation_bucket(9)->executor_group()->executor(0).grad_names().empty());
  EXPECT_EQ(model->group()->arena_bytes(), arena) << "in the same memory";
  EXPECT_EQ(model->footprint_bytes(), both.footprint_bytes + evaluated.footprint_bytes);
  EXPECT_EQ(*model->current_bucket_key(), BucketKey(4));
}

TEST(EvaluationTest, GivesTheBitsOfAModuleForInferenceAlone) {
  auto model = MakeModel();
  COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(4, 1)));
  COOPER_ASSERT_OK(model->Update());
  auto inference = MakeModel(WriteReq::kWrite, /*for_training=*/false);
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
  COOPER_ASSERT_OK(inference->SetParams(params.args, params.auxs));
  for (const int64_t length : {4, 7, 4}) {
    const DataBatch batch = BatchOf(length, 11 + length);
    EXPECT_EQ(Evaluate(*model, batch), Evaluate(*inference, batch)) << length;
    // A smaller last batch, and one without labels.
    const DataBatch last = BatchOf(length, 12 + length, 2);
    EXPECT_EQ(Evaluate(*model, last), Evaluate(*inference, last)) << length;
    DataBatch bare = BatchOf(length, 13 + length);
    bare.label.clear();
    bare.provide_label.clear();
    EXPECT_EQ(Evaluate(*model, bare), Evaluate(*inference, bare)) << length;
  }
}

TEST(EvaluationTest, DropsNothingAndLeavesMovingMeansAsTheyAre) {
  auto model = MakeModel();
  COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(4, 1)));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams before, model->GetParams());
  const DataBatch batch = BatchOf(4, 2);
  const std::vector<float> outputs = Evaluate(*model, batch);
  EXPECT_EQ(Evaluate(*model, batch), outputs) << "no random number";
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, model->GetParams());
  for (const auto& [name, array] : before.auxs) {
    EXPECT_EQ(Floats(after.auxs.at(name)), Floats(array)) << name;
  }
  // The training plan with is_train false gives the same outputs, up to rounding.
  COOPER_ASSERT_OK(model->Forward(batch, /*is_train=*/false));
  const std::vector<float> other = Floats((*model->GetOutputs())[0]);
  for (size_t i = 0; i < outputs.size(); ++i) EXPECT_NEAR(outputs[i], other[i], 1e-6f);
}

TEST(EvaluationTest, TrainingGoesOnAsIfThereHadBeenNone) {
  for (const WriteReq grad_req : {WriteReq::kWrite, WriteReq::kAdd}) {
    auto model = MakeModel(grad_req), undisturbed = MakeModel(grad_req);
    for (int step = 0; step < 4; ++step) {
      const DataBatch batch = BatchOf(4 + step % 2, step);
      COOPER_ASSERT_OK(model->ForwardBackward(batch));
      COOPER_ASSERT_OK(undisturbed->ForwardBackward(batch));
      // An evaluation between accumulated gradients, too.
      Evaluate(*model, BatchOf(3 + step, 50 + step));
      EXPECT_EQ(*model->current_bucket_key(), *undisturbed->current_bucket_key());
      if (step % 2 == 0 && grad_req == WriteReq::kAdd) continue;
      COOPER_ASSERT_OK(model->Update());
      COOPER_ASSERT_OK(undisturbed->Update());
    }
    ExpectSameParams(*model, *undisturbed);
  }
}

TEST(EvaluationTest, OutputsAndShapesAreThoseOfTheLastBatch) {
  auto model = MakeModel();
  Evaluate(*model, BatchOf(9, 1, 2));
  EXPECT_EQ(model->data_shapes()[0].shape, Shape({2, 9, 3}));
  EXPECT_EQ(model->output_shapes()[0].second, Shape({2, 2}));
  EXPECT_THAT(model->Backward(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Forward")));
  COOPER_ASSERT_OK(model->Forward(BatchOf(4, 1)));
  EXPECT_EQ(model->data_shapes()[0].shape, Shape({kRows, 4, 3}));
  COOPER_EXPECT_OK(model->Backward());
}

TEST(EvaluationTest, BucketsForEvaluationCountInTheCap) {
  auto model = MakeModel(WriteReq::kWrite, true, {.max_bound_buckets = 3});
  for (const int64_t length : {4, 5}) COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(length, 1)));
  for (const int64_t length : {6, 7, 8}) Evaluate(*model, BatchOf(length, 1));
  EXPECT_EQ(model->bucket(4), nullptr) << "used longest ago";
  EXPECT_NE(model->bucket(5), nullptr) << "the current one";
  EXPECT_EQ(model->evaluation_bucket(6), nullptr);
  EXPECT_NE(model->evaluation_bucket(8), nullptr);
  EXPECT_EQ(model->Report().size(), 3u);
}

// Binding the bucket for evaluation evicts the one for training, whose shapes describe the batch.
TEST(EvaluationTest, ABareBatchOfABucketThatTheCapDrops) {
  auto model = MakeModel(WriteReq::kWrite, true, {.max_bound_buckets = 2});
  for (const int64_t length : {4, 5}) COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(length, 1)));
  DataBatch bare = BatchOf(4, 2);
  const std::vector<float> expected = Evaluate(*MakeModel(), bare);
  bare.provide_data.clear();
  bare.provide_label.clear();
  auto other = MakeModel(WriteReq::kWrite, true, {.max_bound_buckets = 2});
  for (const int64_t length : {4, 5}) COOPER_ASSERT_OK(other->Prepare(BatchOf(length, 1)));
  COOPER_ASSERT_OK(other->SwitchBucket(5, DataOf(5), LabelsOf()));
  EXPECT_EQ(Evaluate(*other, bare), expected);
  EXPECT_EQ(other->bucket(4), nullptr);
}

// Network without its loss.
Symbol Scores(const BucketKey& key) {
  return op::softmax(*Network(key).GetInternals().Get("fc_output"));
}

// With empty label_names the labels of an iterator are ignored, as in MXNet.
TEST(EvaluationTest, WithoutLabelsEveryBucketPredictsOverAnIteratorThatHasThem) {
  const auto trained = MakeModel();
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, trained->GetParams());
  for (const std::vector<DataDesc>& labels : {LabelsOf(), std::vector<DataDesc>()}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto model,
        BucketingModule::Create({.sym_gen = [](const BucketKey& key) -> BucketSymbol {
                                   return {.symbol = Scores(key), .label_names = {}};
                                 },
                                 .default_bucket_key = 4}));
    COOPER_ASSERT_OK(
        model->Bind({.data_shapes = DataOf(4), .label_shapes = labels, .for_training = false}));
    COOPER_ASSERT_OK(model->SetParams(params.args, params.auxs));
    for (const int64_t length : {4, 2, 9, 4}) {
      const DataBatch batch = BatchOf(length, 7);
      EXPECT_THAT(Evaluate(*model, batch), Pointwise(FloatNear(1e-6f), Evaluate(*trained, batch)));
      EXPECT_TRUE(model->label_shapes().empty());
      COOPER_EXPECT_OK(model->Prepare(BatchOf(length + 1, 7)));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto reports,
        model->PrepareAll({{.key = 20, .data_shapes = DataOf(20), .label_shapes = LabelsOf()},
                           {.key = 21, .data_shapes = DataOf(21), .label_shapes = LabelsOf()}}));
    EXPECT_EQ(reports.size(), 2u);
  }
}

TEST(EvaluationTest, AModuleHasAPlanOfItsOwnToo) {
  auto model = Module::Create(Network(4)).value();
  COOPER_ASSERT_OK(model->Bind({.data_shapes = DataOf(4), .label_shapes = LabelsOf()}));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  EXPECT_EQ(model->memory(/*to_evaluate=*/true).planned_bytes, 0);
  const DataBatch batch = BatchOf(4, 1, 3);
  const std::vector<float> outputs = Evaluate(*model, batch);
  EXPECT_EQ(outputs.size(), 6u);
  EXPECT_GT(model->memory(/*to_evaluate=*/true).planned_bytes, 0);
  EXPECT_EQ(model->data_shapes()[0].shape, Shape({3, 4, 3}));
  COOPER_ASSERT_OK(model->Reshape(DataOf(4), LabelsOf()));
  EXPECT_EQ(model->data_shapes()[0].shape, Shape({kRows, 4, 3}));
  // A batch that does not fit gives the same error as in Forward.
  DataBatch bad = BatchOf(4, 1);
  bad.data.push_back(bad.data[0]);
  EXPECT_THAT(model->ForwardToEvaluate(bad),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 data arrays")));
}

}  // namespace
}  // namespace cooper
