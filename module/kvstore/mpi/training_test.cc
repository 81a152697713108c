// Tests training in several processes: each process of the run is one copy of this program.

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

// data_parallel_test.cc derives this tolerance.
constexpr float kTolerance = 4e-5f;
constexpr int64_t kRows = 32;

InitOptimizerOptions Momentum(const std::string& kvstore) {
  return {.kvstore = kvstore, .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}};
}

// Rank and number of the processes, read before any module is created.
struct World {
  int rank = 0;
  int size = 1;
};
World TheWorld() {
  auto store = CreateKVStore("dist_sync");
  EXPECT_TRUE(store.ok()) << store.status();
  return {(*store)->rank(), (*store)->num_workers()};
}

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

std::unique_ptr<Module> MakeTrainable(int64_t rows, const InitOptimizerOptions& optimizer,
                                      uint64_t seed = 0) {
  auto module = Module::Create(TwoLayers());
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK((*module)->Bind(Shapes(rows)));
  COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5), .seed = seed}));
  COOPER_EXPECT_OK((*module)->InitOptimizer(optimizer));
  return *std::move(module);
}

// Checks that the parameters are bitwise equal on all processes.
void ExpectSameOnAll(const BaseModule& module) {
  auto store = *CreateKVStore("dist_sync");
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, module.GetParams());
  for (const auto& [name, array] : params.args) {
    COOPER_ASSERT_OK(store->Init(name, array));
    const NDArray first = *array.Copy();
    COOPER_ASSERT_OK(store->Pull(name, {first}));
    EXPECT_EQ(Floats(array), Floats(first)) << name;
  }
}

TEST(DistributedTest, TwentyStepsAreThoseOfOneProcess) {
  const World world = TheWorld();
  const int64_t rows = kRows / world.size;
  for (bool on_kvstore : {true, false}) {
    InitOptimizerOptions optimizer = Momentum("dist_sync");
    optimizer.update_on_kvstore = on_kvstore;
    // Each process has another seed; all start from the first one's values.
    auto part = MakeTrainable(rows, optimizer, world.rank);
    auto whole = MakeTrainable(kRows, Momentum("local"), 0);
    for (int step = 0; step < 20; ++step) {
      const NDArray data = RandomArray({kRows, 6}, step);
      const NDArray label = Classes(kRows, 3, step);
      COOPER_ASSERT_OK(whole->ForwardBackward({.data = {data}, .label = {label}}));
      COOPER_ASSERT_OK(whole->Update());
      const int64_t begin = world.rank * rows;
      COOPER_ASSERT_OK(part->ForwardBackward({.data = {*data.Slice(begin, begin + rows)},
                                              .label = {*label.Slice(begin, begin + rows)}}));
      COOPER_ASSERT_OK(part->Update());
    }
    ExpectSameParams(*part, *whole, kTolerance);
    ExpectSameOnAll(*part);
  }
}

// Batches of buckets, different ones for each process.
class Buckets : public DataIter {
 public:
  Buckets(int64_t batches, int64_t first) : batches_(batches), first_(first) {}

  const std::vector<DataDesc>& provide_data() const override { return data_; }
  const std::vector<DataDesc>& provide_label() const override { return label_; }
  int64_t batch_size() const override { return 8; }
  absl::Status Reset() override {
    next_ = 0;
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (next_ == batches_) return std::optional<DataBatch>();
    const int64_t step = first_ + next_++;
    const int64_t length = 2 + step % 3;
    DataBatch batch = {.data = {RandomArray({8, length}, step)}, .label = {Classes(8, 2, step)}};
    batch.bucket_key = length;
    batch.provide_data = Descs(length, "data");
    batch.provide_label = Descs(length, "softmax_label");
    return batch;
  }

 private:
  static std::vector<DataDesc> Descs(int64_t length, const std::string& name) {
    if (name == "data") return {{.name = name, .shape = {8, length}, .layout = "NT"}};
    return {{.name = name, .shape = {8}, .layout = "N"}};
  }

  const std::vector<DataDesc> data_ = Descs(4, "data");
  const std::vector<DataDesc> label_ = Descs(4, "softmax_label");
  const int64_t batches_;
  const int64_t first_;
  int64_t next_ = 0;
};

std::unique_ptr<BucketingModule> MakeBuckets() {
  auto module = BucketingModule::Create(
      {.sym_gen = [](const BucketKey&) { return BucketSymbol{.symbol = MeanOverTime()}; },
       .default_bucket_key = 4});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// The first process has 7 batches, each further one 4 more than the one before.
TEST(DistributedTest, ShardsMayEndAtDifferentTimes) {
  const World world = TheWorld();
  auto module = MakeBuckets();
  const int64_t batches = 7 + 4 * world.rank;
  Buckets data(batches, 5 * world.rank);
  const auto accuracy = Accuracy({});
  std::vector<int64_t> seen;
  COOPER_ASSERT_OK(module->Fit(data, {.eval_metric = accuracy.get(),
                                      .batch_end_callbacks = {[&](const BatchEndParam& param) {
                                        seen.push_back(param.epoch);
                                        return true;
                                      }},
                                      .optimizer = Momentum("dist_sync"),
                                      .params = {.initializer = init::Uniform(0.5)},
                                      .num_epoch = 3}));
  EXPECT_EQ(static_cast<int64_t>(seen.size()), 3 * batches);
  ExpectSameOnAll(*module);
}

// Whenever the signal comes, all processes save the same parameters, after the same number of
// batches.
TEST(DistributedTest, ASignalToOneProcessEndsAllAfterTheSameUpdate) {
  const World world = TheWorld();
  for (const int64_t at : {2, 4}) {  // the fourth batch is the last of the epoch
    auto module = MakeBuckets();
    Buckets data(4, world.rank);
    std::vector<std::pair<int, int64_t>> stops;
    int batches = 0;
    const absl::Status status =
        module->Fit(data, {.batch_end_callbacks = {[&](const BatchEndParam&) {
                             if (++batches == at && world.rank == 0) std::raise(SIGTERM);
                             return true;
                           }},
                           .stop_on_signal = true,
                           .stop_point =
                               [&](int epoch, int64_t done) {
                                 stops.emplace_back(epoch, done);
                                 ExpectSameOnAll(*module);
                                 return absl::OkStatus();
                               },
                           .optimizer = Momentum("dist_sync"),
                           .params = {.initializer = init::Uniform(0.5)},
                           .num_epoch = 3});
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    EXPECT_THAT(stops, testing::ElementsAre(std::pair(0, int64_t{at == 2 ? 3 : 4})));
  }
}

// One process trains a parameter before another binds its bucket.
TEST(DistributedTest, ParametersOfSomeBucketsAreTheSameOnAll) {
  const World world = TheWorld();
  for (double clip : {0.0, 0.5}) {
    auto made = BucketingModule::Create(
        {.sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
           const Symbol mean = Op("mean", {.name = "mean",
                                           .inputs = {Symbol::Variable("data")},
                                           .attrs = {{"axis", "1"}, {"keepdims", "True"}}});
           const Symbol shared =
               Op("FullyConnected",
                  {.name = "shared", .inputs = {mean}, .attrs = {{"num_hidden", "3"}}});
           const Symbol own = Op(
               "FullyConnected",
               {.name = "fc" + key.ToString(), .inputs = {shared}, .attrs = {{"num_hidden", "2"}}});
           return BucketSymbol{
               .symbol = Op("SoftmaxOutput", {.name = "softmax",
                                              .inputs = {own, Symbol::Variable("softmax_label")}})};
         },
         .default_bucket_key = 4});
    COOPER_ASSERT_OK(made.status());
    BucketingModule& module = **made;
    // Every process can clip by the same norm only if it has bound all buckets.
    InitOptimizerOptions optimizer = Momentum("dist_sync");
    optimizer.clip_global_norm = clip;
    FitOptions fit{
        .optimizer = optimizer,
        .params = {.initializer = init::Uniform(0.5), .seed = static_cast<uint64_t>(world.rank)},
        .num_epoch = 2};
    Buckets data(3 + 2 * world.rank, world.rank);  // lengths 2, 3, 4 from another one on
    if (clip > 0) {
      COOPER_ASSERT_OK(
          module.Bind({.data_shapes = data.provide_data(), .label_shapes = data.provide_label()}));
      std::vector<BucketShapes> shapes;
      for (int64_t length : {2, 3, 4}) {
        shapes.push_back({.key = length,
                          .data_shapes = {{.name = "data", .shape = {8, length}, .layout = "NT"}},
                          .label_shapes = data.provide_label()});
      }
      COOPER_ASSERT_OK(module.PrepareAll(shapes));
    }
    COOPER_ASSERT_OK(module.Fit(data, fit));
    EXPECT_EQ(module.Report().size(), 3u);
    ExpectSameOnAll(module);
  }
}

// Returns a network that embeds a word and predicts the next one; word 0 is padding.
BucketSymbol NextOfFive() {
  const Symbol embed = Op("Embedding", {.name = "embed",
                                        .inputs = {Symbol::Variable("data")},
                                        .attrs = {{"input_dim", "6"}, {"output_dim", "4"}}});
  const Symbol rows = Op("Reshape", {.inputs = {embed}, .attrs = {{"shape", "(-1, 4)"}}});
  const Symbol pred =
      Op("FullyConnected", {.name = "pred", .inputs = {rows}, .attrs = {{"num_hidden", "6"}}});
  const Symbol labels =
      Op("Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  return {.symbol =
              Op("SoftmaxOutput", {.name = "softmax",
                                   .inputs = {pred, labels},
                                   .attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}}})};
}

// Returns 50 sentences each of 2, 3 and 4 words.
std::vector<std::vector<int>> Sentences() {
  RandomGenerator random(9);
  std::vector<std::vector<int>> sentences(150);
  for (size_t i = 0; i < sentences.size(); ++i) {
    sentences[i].resize(2 + i % 3);
    for (int& word : sentences[i]) word = 1 + static_cast<int>(random.NextBelow(5));
  }
  return sentences;
}

struct SentenceTraining {
  std::unique_ptr<BucketingModule> module;
  std::string keys;  // of all steps
  int64_t steps = 0;
  int64_t empty = 0;  // steps without a sentence
};

SentenceTraining TrainOnSentences(int64_t batch_size, BucketSentenceIterOptions options,
                                  const InitOptimizerOptions& optimizer, uint64_t seed) {
  SentenceTraining training;
  options.buckets = {2, 4};
  options.invalid_label = 0;
  options.common.seed = 5;
  auto data = *BucketSentenceIter::Create(Sentences(), batch_size, options);
  training.module = *BucketingModule::Create(
      {.sym_gen = [](const BucketKey&) { return NextOfFive(); }, .default_bucket_key = 4});
  const auto perplexity = Perplexity({.ignore_label = 0});
  COOPER_EXPECT_OK(
      training.module->Fit(*data, {.eval_metric = perplexity.get(),
                                   .batch_end_callbacks = {[&](const BatchEndParam& param) {
                                     training.keys += param.batch->bucket_key->ToString() + " ";
                                     ++training.steps;
                                     if (param.batch->pad == data->batch_size()) ++training.empty;
                                     return true;
                                   }},
                                   .optimizer = optimizer,
                                   .params = {.initializer = init::Uniform(0.5), .seed = seed},
                                   .num_epoch = 3}));
  return training;
}

TEST(DistributedTest, PartsOfOneIteratorTrainAsOneProcessWithTheWholeBatch) {
  using LastBatch = BucketSentenceIterOptions::LastBatch;
  const World world = TheWorld();
  for (LastBatch last : {LastBatch::kDiscard, LastBatch::kPad}) {
    const SentenceTraining part = TrainOnSentences(
        kRows / world.size,
        {.common = {.last_batch = last, .part_index = world.rank, .num_parts = world.size}},
        Momentum("dist_sync"), world.rank);
    const SentenceTraining whole =
        TrainOnSentences(kRows, {.common = {.last_batch = last}}, Momentum("local"), 0);

    // 1 + 3 steps of 32 sentences in an epoch; with the remaining 18 and 4 two more.
    EXPECT_EQ(part.steps, last == LastBatch::kPad ? 18 : 12);
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> keys,
                                part.module->kvstore()->AllGather(part.keys));
    EXPECT_EQ(keys, std::vector<std::string>(world.size, whole.keys));
    // The remaining 4 sentences are among the first part's rows, in each of 3 epochs. Of 4 parts,
    // the last one has none of the 18 either.
    const bool has_all = last == LastBatch::kDiscard || world.rank == 0;
    const bool has_18 = world.rank * kRows / world.size < 18;
    EXPECT_EQ(part.empty, has_all ? 0 : has_18 ? 3 : 6);

    ExpectSameOnAll(*part.module);
    // A sum has up to 3 labels in each of 32 rows: 3 times as many terms as kTolerance is for, with
    // a 3 times larger total.
    ExpectSameParams(*part.module, *whole.module, 9 * kTolerance);
  }
}

TEST(DistributedTest, ACallbackOfOneProcessEndsTheTrainingOfAll) {
  const World world = TheWorld();
  auto module = MakeBuckets();
  Buckets data(7 + 4 * world.rank, world.rank);
  int64_t batches = 0;
  COOPER_ASSERT_OK(module->Fit(data, {.batch_end_callbacks = {[&](const BatchEndParam&) {
                                        ++batches;
                                        return !(world.rank == 1 && batches == 9);
                                      }},
                                      .optimizer = Momentum("dist_sync"),
                                      .params = {.initializer = init::Uniform(0.5)},
                                      .num_epoch = 100}));
  EXPECT_LE(batches, 10);
  ExpectSameOnAll(*module);

  // A callback at the end of an epoch ends the training in the same way.
  auto second = MakeBuckets();
  int epochs = 0;
  COOPER_ASSERT_OK(data.Reset());
  COOPER_ASSERT_OK(
      second->Fit(data, {.epoch_end_callbacks = {[&](int, BaseModule&) -> absl::StatusOr<bool> {
                           ++epochs;
                           return !(world.rank == 0 && epochs == 2);
                         }},
                         .optimizer = Momentum("dist_sync"),
                         .num_epoch = 100}));
  EXPECT_EQ(epochs, 2);
}

}  // namespace
}  // namespace cooper
