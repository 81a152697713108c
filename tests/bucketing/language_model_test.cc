// Tests the language model of lm_train: the parameters of its cells, that they train, and the cost
// of a step by length.

#include "tools/lm_train/language_model.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucket_plan.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatchSize = 2;
constexpr int64_t kLength = 3;
constexpr int64_t kVocab = 11;
constexpr int64_t kEmbed = 5;
constexpr int64_t kHidden = 4;

struct CellCase {
  std::string cell;
  int64_t gates;
};

std::vector<DataDesc> Desc(const std::string& name) {
  return {{.name = name, .shape = Shape({kBatchSize, kLength}), .layout = "NT"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> MakeModel(const std::string& cell,
                                                           bool bidirectional) {
  COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeLanguageModel({.vocab = kVocab,
                                                             .num_embed = kEmbed,
                                                             .num_hidden = kHidden,
                                                             .cell = cell,
                                                             .bidirectional = bidirectional}));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = std::move(sym_gen), .default_bucket_key = BucketKey(kLength)}));
  COOPER_RETURN_IF_ERROR(
      model->Bind({.data_shapes = Desc("data"), .label_shapes = Desc("softmax_label")}));
  COOPER_RETURN_IF_ERROR(model->InitParams({.initializer = LanguageModelInitializer()}));
  COOPER_RETURN_IF_ERROR(model->InitOptimizer());
  return model;
}

class CellTest : public testing::TestWithParam<CellCase> {};

// Returns the number of parameters of a layer. Each gate has two biases, as in MXNet and PyTorch.
int64_t LayerParameters(int64_t gates, int64_t inputs) {
  return gates * kHidden * (inputs + kHidden + 2);
}

TEST_P(CellTest, HasTheParametersOfItsGates) {
  for (const bool bidirectional : {false, true}) {
    auto model = MakeModel(GetParam().cell, bidirectional);
    ASSERT_THAT(model.status(), IsOk());
    const int64_t directions = bidirectional ? 2 : 1;
    const int64_t features = directions * kHidden;
    const int64_t gates = GetParam().gates;
    EXPECT_EQ((*model)->group()->parameters().num_elements(),
              kVocab * kEmbed +
                  directions * (LayerParameters(gates, kEmbed) + LayerParameters(gates, features)) +
                  (features + 1) * kVocab)
        << "bidirectional " << bidirectional;
  }
}

TEST_P(CellTest, Trains) {
  for (const bool bidirectional : {false, true}) {
    auto model = MakeModel(GetParam().cell, bidirectional);
    ASSERT_THAT(model.status(), IsOk());
    auto data = NDArray::FromVector<float>(Shape({kBatchSize, kLength}), {1, 2, 3, 4, 5, 6});
    ASSERT_THAT(data.status(), IsOk());
    const DataBatch batch = {.data = {*data},
                             .label = {*data},
                             .bucket_key = BucketKey(kLength),
                             .provide_data = Desc("data"),
                             .provide_label = Desc("softmax_label")};
    COOPER_EXPECT_OK((*model)->ForwardBackward(batch));
    COOPER_EXPECT_OK((*model)->Update());
    auto outputs = (*model)->GetOutputs();
    ASSERT_THAT(outputs.status(), IsOk());
    EXPECT_EQ((*outputs)[0].shape(), Shape({kBatchSize * kLength, kVocab}));
  }
}

// Neither padding nor a sentence's last word has a label: with lengths they are skipped, and
// training gives the same result.
TEST_P(CellTest, LearnsTheSameWithLengths) {
  const std::vector<std::vector<int>> sentences = {{1, 2, 3, 4, 5}, {6, 7}, {8, 9, 10}, {3}};
  std::vector<std::vector<float>> weights;
  for (const bool use_lengths : {false, true}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto iter, BucketSentenceIter::Create(
                       sentences, /*batch_size=*/4,
                       {.buckets = {8},
                        .invalid_label = 0,
                        .length_name = use_lengths ? std::string("length") : std::string()}));
    COOPER_ASSERT_OK_AND_ASSIGN(SymGen sym_gen, MakeLanguageModel({.vocab = kVocab,
                                                                   .num_embed = kEmbed,
                                                                   .num_hidden = kHidden,
                                                                   .cell = GetParam().cell,
                                                                   .use_ignore = true,
                                                                   .use_lengths = use_lengths}));
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto model, BucketingModule::Create(
                        {.sym_gen = std::move(sym_gen), .default_bucket_key = BucketKey(8)}));
    COOPER_ASSERT_OK(
        model->Bind({.data_shapes = iter->provide_data(), .label_shapes = iter->provide_label()}));
    COOPER_ASSERT_OK(model->InitParams({.initializer = LanguageModelInitializer(), .seed = 3}));
    COOPER_ASSERT_OK(model->InitOptimizer({.optimizer_params = {{"learning_rate", "0.5"}}}));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
    ASSERT_TRUE(batch.has_value());
    for (int step = 0; step < 3; ++step) {
      COOPER_ASSERT_OK(model->ForwardBackward(*batch));
      COOPER_ASSERT_OK(model->Update());
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
    weights.emplace_back();
    for (const auto& [name, array] : params.args) {
      const std::vector<float> values = *array.ToVector<float>();
      weights.back().insert(weights.back().end(), values.begin(), values.end());
    }
  }
  ASSERT_EQ(weights[0].size(), weights[1].size());
  // The tolerance is for weights below 4 after three steps with sums of at most 32 terms.
  for (size_t i = 0; i < weights[0].size(); ++i) {
    ASSERT_NEAR(weights[0][i], weights[1][i], 5e-5) << "weight " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellTest,
                         testing::Values(CellCase{"lstm", 4}, CellCase{"gru", 3},
                                         CellCase{"rnn", 1}, CellCase{"fused", 4},
                                         CellCase{"fused_gru", 3}, CellCase{"fused_rnn", 1}),
                         [](const auto& info) { return info.param.cell; });

// A loop is compiled to the steps of the unrolled network: the plan is as small, and it learns the
// same. Its word is a slice of (length, batch), which the unrolled network's is not: up to
// rounding.
TEST(LanguageModelTest, ALoopCostsWhatUnrollingDoes) {
  constexpr int64_t kLongest = 7;
  for (const bool for_training : {false, true}) {
    std::vector<BucketBytes> bytes;
    for (const char* cell : {"lstm", "foreach"}) {
      COOPER_ASSERT_OK_AND_ASSIGN(
          SymGen sym_gen,
          MakeLanguageModel(
              {.vocab = kVocab, .num_embed = kEmbed, .num_hidden = kHidden, .cell = cell}));
      const Shape shape({4, kLongest});
      const BucketShapes bucket = {
          .key = kLongest,
          .data_shapes = {{.name = "data", .shape = shape, .layout = "NT"}},
          .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}};
      COOPER_ASSERT_OK_AND_ASSIGN(BucketPlan plan,
                                  BucketPlan::Create({.sym_gen = std::move(sym_gen),
                                                      .buckets = {bucket},
                                                      .bind = {.for_training = for_training}}));
      COOPER_ASSERT_OK_AND_ASSIGN(bytes.emplace_back(), plan.Bytes(kLongest, 4));
    }
    EXPECT_LE(bytes[1].arena, bytes[0].arena) << "for_training " << for_training;
    EXPECT_EQ(bytes[1].parameters, bytes[0].parameters);
  }
}

TEST(LanguageModelTest, RefusesOtherCells) {
  EXPECT_THAT(MakeLanguageModel({.vocab = kVocab, .cell = "foreach", .bidirectional = true}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bidirectional")));
  EXPECT_THAT(MakeLanguageModel({.vocab = kVocab, .cell = "dense"}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'dense', expected lstm")));
}

SymGen SmallModel(bool use_lengths) {
  return MakeLanguageModel({.vocab = 40,
                            .num_embed = 8,
                            .num_hidden = 8,
                            .num_layers = 1,
                            .use_lengths = use_lengths})
      .value();
}

// The cost is proportional to the number of words, except for gradients of weights, which each step
// writes once, and that of the first state, which is never computed.
TEST(LmStepCostTest, RisesAsTheLengthDoes) {
  for (const bool use_lengths : {false, true}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto cost, LmStepCost({.sym_gen = SmallModel(use_lengths),
                                                             .use_lengths = use_lengths,
                                                             .batch_size = 4,
                                                             .longest = 30}));
    EXPECT_DOUBLE_EQ(cost(30), 30);
    EXPECT_NEAR(cost(1), 1, 0.5);
    for (int length = 2; length <= 30; ++length) {
      EXPECT_NEAR(cost(length) - cost(length - 1), 1, 0.1) << length;
    }
    COOPER_ASSERT_OK_AND_ASSIGN(
        const BucketBoundaries best,
        ChooseBuckets({5, 5, 5, 10, 30, 30}, {.max_buckets = 2, .step_cost = cost}));
    EXPECT_EQ(best.buckets, (std::vector<int64_t>{10, 30}));
  }
}

TEST(LmStepCostTest, TellsWhatIsWrong) {
  EXPECT_THAT(LmStepCost({.sym_gen = SmallModel(false), .longest = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("longest 1")));
}

}  // namespace
}  // namespace cooper
