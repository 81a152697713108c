// Embeddings whose gradient is known row by row train as if it were not.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing_module.h"
#include "module/expect_params.h"
#include "module/initializer/initializers.h"
#include "module/module.h"
#include "module/module_fixtures.h"
#include "ndarray/random.h"
#include "ndarray/row_set.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

constexpr int64_t kRows = 2, kWords = 50, kWidth = 4;

std::vector<DataDesc> Ids(const char* name, int64_t length) {
  return {{.name = name, .shape = {kRows, length}, .layout = "NT"}};
}

// A class for each of `key` words. In sentences of an odd length the classifier's weight is the
// embedding's, whose gradient is then more than a few rows.
absl::StatusOr<BucketSymbol> Tagger(const BucketKey& key) {
  const Symbol weight = Symbol::Variable("embed_weight", {.shape = PartialShape({kWords, kWidth})});
  const Symbol words = Op("Embedding", {.name = "embed",
                                        .inputs = {Symbol::Variable("data"), weight},
                                        .attrs = {{"input_dim", "50"}, {"output_dim", "4"}}});
  const Symbol hidden = Op("tanh", {.inputs = {words}});
  const Symbol flat = Op("Reshape", {.inputs = {hidden}, .attrs = {{"shape", "(-1, 4)"}}});
  OpArgs classifier{.name = "pred", .inputs = {flat}, .attrs = {{"num_hidden", "50"}}};
  if (key.int_value() % 2 == 1) classifier.inputs.push_back(weight);
  const Symbol label =
      Op("Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  return BucketSymbol{
      .symbol = Op("SoftmaxOutput",
                   {.name = "softmax", .inputs = {Op("FullyConnected", classifier), label}})};
}

DataBatch RandomBatch(int64_t length, uint64_t seed) {
  const auto ids = [&](uint64_t stream) {
    return *Classes(kRows * length, kWords, stream).Reshape({kRows, length});
  };
  return {.data = {ids(2 * seed)},
          .label = {ids(2 * seed + 1)},
          .bucket_key = length,
          .provide_data = Ids("data", length),
          .provide_label = Ids("softmax_label", length)};
}

std::unique_ptr<BucketingModule> MakeModel(const InitOptimizerOptions& optimizer,
                                           std::vector<Context> contexts = {Context::Cpu()}) {
  auto model = BucketingModule::Create(
      {.sym_gen = Tagger, .default_bucket_key = 4, .contexts = std::move(contexts)});
  EXPECT_TRUE(model.ok()) << model.status();
  COOPER_EXPECT_OK(
      (*model)->Bind({.data_shapes = Ids("data", 4), .label_shapes = Ids("softmax_label", 4)}));
  COOPER_EXPECT_OK((*model)->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  COOPER_EXPECT_OK((*model)->InitOptimizer(optimizer));
  return *std::move(model);
}

std::map<std::string, std::shared_ptr<RowSet>>& GradRowsOf(BucketingModule& model) {
  return model.bucket(4)->group()->first().grad_rows;
}

// Two models, of which one knows nothing of rows, after steps of random lengths; returns how many
// steps of the other have known rows.
int CountKnownSteps(const InitOptimizerOptions& optimizer,
                    const std::vector<Context>& contexts = {Context::Cpu()}) {
  auto by_rows = MakeModel(optimizer, contexts);
  auto whole = MakeModel(optimizer, contexts);
  RandomGenerator random(1);
  int known = 0;
  for (uint64_t step = 0; step < 16; ++step) {
    const DataBatch batch = RandomBatch(static_cast<int64_t>(2 + random.NextBelow(4)), step);
    COOPER_EXPECT_OK(by_rows->ForwardBackward(batch));
    COOPER_EXPECT_OK(whole->ForwardBackward(batch));
    for (const auto& [name, rows] : GradRowsOf(*whole)) rows->GiveUp();
    if (!GradRowsOf(*by_rows).at("embed_weight")->all()) ++known;
    COOPER_EXPECT_OK(by_rows->Update());
    COOPER_EXPECT_OK(whole->Update());
  }
  ExpectSameParams(*by_rows, *whole);
  return known;
}

TEST(GradRowsTest, TrainingIsTheSame) {
  const std::map<std::string, std::string> rate = {{"learning_rate", "0.5"}};
  const auto with = [&rate](std::map<std::string, std::string> kwargs) {
    kwargs.insert(rate.begin(), rate.end());
    return kwargs;
  };
  for (const InitOptimizerOptions& optimizer :
       std::vector<InitOptimizerOptions>{{.optimizer_params = rate},
                                         {.optimizer_params = with({{"wd", "0.01"}})},
                                         {.optimizer_params = with({{"momentum", "0.9"}})},
                                         {.optimizer = "adagrad", .optimizer_params = rate},
                                         {.optimizer = "adam", .optimizer_params = rate},
                                         {.optimizer_params = rate, .clip_global_norm = 0.1},
                                         {.optimizer_params = rate, .batches_per_update = 2}}) {
    SCOPED_TRACE(optimizer.optimizer);
    EXPECT_GE(CountKnownSteps(optimizer), 4);
  }
}

// There gradients are summed over the contexts, where each has rows of its own.
TEST(GradRowsTest, TrainingOnSeveralContextsIsTheSame) {
  for (const bool on_store : {true, false}) {
    EXPECT_GE(CountKnownSteps(
                  {.update_on_kvstore = on_store, .optimizer_params = {{"learning_rate", "0.5"}}},
                  {Context::Cpu(0), Context::Cpu(1)}),
              4);
  }
}

// Who takes a gradient from a module may change it before the update.
TEST(GradRowsTest, AGradientThatWasHandedOutIsUpdatedWhole) {
  auto model = MakeModel({.optimizer_params = {{"learning_rate", "1"}, {"rescale_grad", "1"}}});
  const DataBatch batch = RandomBatch(4, 1);
  for (int step = 0; step < 2; ++step) {
    COOPER_ASSERT_OK(model->ForwardBackward(batch));
    COOPER_ASSERT_OK(model->Update());
  }
  EXPECT_LE(GradRowsOf(*model).at("embed_weight")->rows().size(), kRows * 4);
  const NDArray grad = model->bucket(4)->executor()->grad("embed_weight");
  for (int step = 0; step < 2; ++step) {
    COOPER_ASSERT_OK(model->ForwardBackward(batch));
    const std::vector<float> before = Floats(model->GetParams()->args.at("embed_weight"));
    COOPER_ASSERT_OK(grad.Fill(0.5));
    COOPER_ASSERT_OK(model->Update());
    const std::vector<float> after = Floats(model->GetParams()->args.at("embed_weight"));
    for (size_t i = 0; i < before.size(); ++i) EXPECT_FLOAT_EQ(after[i], before[i] - 0.5f);
  }
}

}  // namespace
}  // namespace cooper
