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

struct Training {
  InitOptimizerOptions optimizer;
  std::vector<Context> contexts = {Context::Cpu()};
  int batches_per_update = 1;
};

std::unique_ptr<BucketingModule> MakeModel(const Training& training) {
  auto model = BucketingModule::Create(
      {.sym_gen = Tagger, .default_bucket_key = 4, .contexts = training.contexts});
  EXPECT_TRUE(model.ok()) << model.status();
  COOPER_EXPECT_OK((*model)->Bind(
      {.data_shapes = Ids("data", 4),
       .label_shapes = Ids("softmax_label", 4),
       .grad_req = training.batches_per_update > 1 ? WriteReq::kAdd : WriteReq::kWrite}));
  COOPER_EXPECT_OK((*model)->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  COOPER_EXPECT_OK((*model)->InitOptimizer(training.optimizer));
  return *std::move(model);
}

std::map<std::string, std::shared_ptr<RowSet>>& GradRowsOf(BucketingModule& model) {
  return model.bucket(4)->group()->first().grad_rows;
}

void GiveUpRows(BucketingModule& model) {
  for (ModuleReplica& replica : model.bucket(4)->group()->replicas) {
    for (const auto& [name, rows] : replica.grad_rows) rows->GiveUp();
  }
}

// Two models, of which one knows nothing of rows, after steps of random lengths; returns how many
// steps of the other have known rows.
int CountKnownSteps(const Training& training) {
  auto by_rows = MakeModel(training);
  auto whole = MakeModel(training);
  RandomGenerator random(1);
  int known = 0;
  for (uint64_t step = 0; step < 16; ++step) {
    for (const auto& model : {by_rows.get(), whole.get()}) COOPER_EXPECT_OK(model->ZeroGrads());
    for (int i = 0; i < training.batches_per_update; ++i) {
      const auto length = static_cast<int64_t>(2 + random.NextBelow(4));
      const DataBatch batch = RandomBatch(length, 2 * step + i);
      GiveUpRows(*whole);
      COOPER_EXPECT_OK(by_rows->ForwardBackward(batch));
      COOPER_EXPECT_OK(whole->ForwardBackward(batch));
    }
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
                                         {.optimizer_params = rate, .clip_global_norm = 0.1}}) {
    SCOPED_TRACE(optimizer.optimizer);
    EXPECT_GE(CountKnownSteps({.optimizer = optimizer}), 4);
    EXPECT_GE(CountKnownSteps({.optimizer = optimizer, .batches_per_update = 2}), 2);
  }
}

// There gradients are summed over the contexts, where each has rows of its own.
TEST(GradRowsTest, TrainingOnSeveralContextsIsTheSame) {
  for (const bool on_store : {true, false}) {
    const Training training{.optimizer = {.update_on_kvstore = on_store,
                                          .optimizer_params = {{"learning_rate", "0.5"}}},
                            .contexts = {Context::Cpu(0), Context::Cpu(1)}};
    EXPECT_GE(CountKnownSteps(training), 4);
  }
}

// Another module of the group may have data of the name, with a gradient that is not the same.
TEST(GradRowsTest, DataIsNotTheParameterOfItsName) {
  const Symbol words =
      Op("Embedding", {.name = "embed",
                       .inputs = {Symbol::Variable("data"), Symbol::Variable("table_weight")},
                       .attrs = {{"input_dim", "7"}, {"output_dim", "3"}}});
  const Symbol net = Op("SoftmaxOutput", {.name = "softmax", .inputs = {words}});
  const ModuleBindOptions shapes{
      .data_shapes = {{.name = "data", .shape = {4}, .layout = "N"}},
      .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}};
  std::vector<std::unique_ptr<Module>> trained;
  for (const bool with_other : {false, true}) {
    COOPER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, Module::Create(net));
    COOPER_ASSERT_OK(module->Bind(shapes));
    COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(1), .seed = 3}));
    COOPER_ASSERT_OK(module->InitOptimizer({.optimizer_params = {{"learning_rate", "1"}}}));
    COOPER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> other,
                                Module::Create(net, {.data_names = {"data", "table_weight"}}));
    ModuleBindOptions other_shapes = shapes;
    other_shapes.data_shapes.push_back({.name = "table_weight", .shape = {7, 3}, .layout = ""});
    other_shapes.shared_module = module.get();
    other_shapes.inputs_need_grad = true;
    COOPER_ASSERT_OK(other->Bind(other_shapes));
    for (uint64_t step = 0; step < 6; ++step) {
      DataBatch batch{.data = {Classes(4, 7, step)}, .label = {Classes(4, 3, step)}};
      COOPER_ASSERT_OK(module->ForwardBackward(batch));
      COOPER_ASSERT_OK(module->Update());
      if (!with_other) continue;
      batch.data = {Classes(4, 7, 99 - step), RandomArray({7, 3}, step)};
      COOPER_ASSERT_OK(other->ForwardBackward(batch));
    }
    trained.push_back(std::move(module));
  }
  ExpectSameParams(*trained[0], *trained[1]);
}

// Who takes a gradient from a module may change it before the update.
TEST(GradRowsTest, AGradientThatWasHandedOutIsUpdatedWhole) {
  auto model = MakeModel(
      {.optimizer = {.optimizer_params = {{"learning_rate", "1"}, {"rescale_grad", "1"}}}});
  const DataBatch batch = RandomBatch(4, 1);
  for (int step = 0; step < 2; ++step) {
    COOPER_ASSERT_OK(model->ForwardBackward(batch));
    COOPER_ASSERT_OK(model->Update());
  }
  ASSERT_FALSE(GradRowsOf(*model).at("embed_weight")->all());
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
