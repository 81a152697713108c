// The C++ of module.md and of the pages that it names, run: check_snippets.sh holds them together.

#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "docs/five_words.h"
#include "docs/two_layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/do_checkpoint.h"
#include "module/checkpoint/training_state.h"
#include "module/evaluate/monitor.h"
#include "module/fit/early_stopping.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

absl::Status TrainRows(const NDArray& rows, const NDArray& labels, const std::string& prefix) {
  const Symbol net = TwoLayers();
  COOPER_ASSIGN_OR_RETURN(auto data,
                          NDArrayIter::Create({{"data", rows}}, {{"softmax_label", labels}},
                                              {.batch_size = 16, .shuffle = true, .seed = 1}));
  COOPER_ASSIGN_OR_RETURN(auto model, Module::Create(net));
  auto save = [&](int number, BaseModule&) {
    return model->SaveCheckpoint(prefix, number, /*save_optimizer_states=*/true);
  };
  const auto accuracy = Accuracy({});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *data, {.eval_metric = accuracy.get(),
              .epoch_end_callbacks = {DoCheckpoint(save, /*period=*/5)},
              .optimizer = {.optimizer = "sgd",
                            .optimizer_params = {{"learning_rate", 0.1}, {"momentum", 0.9}}},
              .params = {.initializer = init::Xavier(), .seed = 1},
              .num_epoch = 10}));
  COOPER_ASSIGN_OR_RETURN(const auto scores, model->Score(*data, *accuracy));
  std::cout << scores[0].first << " " << scores[0].second << "\n";
  return absl::OkStatus();
}

TEST(ModulePageTest, TrainsRows) {
  RandomGenerator random(3);
  std::vector<float> rows, labels;
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 10; ++j) {
      rows.push_back(static_cast<float>(random.NextNormal() * 0.1 + (j == i % 10 ? 1 : 0)));
    }
    labels.push_back(static_cast<float>(i % 10));
  }
  const std::string prefix = testing::TempDir() + "rows";
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(
      TrainRows(*NDArray::FromVector({64, 10}, rows), *NDArray::FromVector({64}, labels), prefix));
  const std::string line = testing::internal::GetCapturedStdout();
  ASSERT_EQ(line.substr(0, 9), "accuracy ");
  EXPECT_GT(std::stod(line.substr(9)), 0.9);
  COOPER_EXPECT_OK(ReadFile(prefix + "-0010.states"));
  COOPER_EXPECT_OK(Module::Load(prefix, 10, /*load_optimizer_states=*/true));
}

// Trains until three validations in a row are no better, and restores the best parameters. If it is
// killed and started again, it ends like an uninterrupted run.
absl::Status TrainToTheBest(BaseModule& model, DataIter& train, DataIter& valid,
                            const std::string& prefix) {
  const auto metric = Accuracy({});
  EarlyStopping stopping({.metric = "accuracy", .patience = 3});
  FitOptions fit{.eval_data = &valid, .eval_metric = metric.get(), .num_epoch = 100};
  fit.eval_end_callbacks = {stopping.AtEvalEnd()};
  const TrainingRun run{&model, &train, metric.get(), {{"early_stopping", &stopping}}};
  COOPER_ASSIGN_OR_RETURN(auto saver, Checkpointer::Create({.prefix = prefix}));
  COOPER_RETURN_IF_ERROR(saver->Resume(run, &fit).status());  // or begins anew
  saver->Attach(run, {.every = 100, .score = "accuracy"}, &fit);
  COOPER_RETURN_IF_ERROR(model.Fit(train, fit));
  return stopping.RestoreBest(model);  // where the 100th epoch ended it
}

TEST(ModulePageTest, EndsEarly) {
  const Symbol net = TwoLayers();
  const auto rows = [](double first) {
    std::vector<float> values(16 * 4, 0), labels(16);
    for (int i = 0; i < 16; ++i) {
      values[i * 4 + i % 4] = static_cast<float>(first);
      labels[i] = static_cast<float>(i % 4);
    }
    return *NDArrayIter::Create({{"data", *NDArray::FromVector({16, 4}, values)}},
                                {{"softmax_label", *NDArray::FromVector({16}, labels)}},
                                {.batch_size = 8});
  };
  auto train = rows(2), valid = rows(1);
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, Module::Create(net));
  const std::string prefix = testing::TempDir() + "best";
  COOPER_ASSERT_OK(TrainToTheBest(*model, *train, *valid, prefix));
  COOPER_ASSERT_OK(LoadTrainingState(prefix + "-best.state"));
  const auto accuracy = Accuracy({});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, model->Score(*valid, *accuracy));
  EXPECT_GE(scores[0].second, 0.5);
}

// Binds every bucket of `data` before the first batch, and prints the memory that each needs.
absl::Status BindAllBuckets(BucketingModule& model, const BucketSentenceIter& data) {
  COOPER_RETURN_IF_ERROR(
      model.Bind({.data_shapes = data.provide_data(), .label_shapes = data.provide_label()}));
  std::vector<BucketShapes> buckets;
  for (const BucketKey& key : data.bucket_keys()) {
    const Shape shape({data.batch_size(), key.int_value()});
    buckets.push_back({.key = key,
                       .data_shapes = {{.name = "data", .shape = shape}},
                       .label_shapes = {{.name = "softmax_label", .shape = shape}}});
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<BucketReport> reports, model.PrepareAll(buckets));
  for (const BucketReport& report : reports) {
    std::cout << "bucket " << report.key << ": " << report.memory.planned_bytes << " bytes of "
              << model.group()->arena_bytes() << ", bound in " << 1e3 * report.bind_seconds
              << " ms\n";
  }
  return absl::OkStatus();
}

TEST(ModulePageTest, BindsAllBuckets) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(BindAllBuckets(*model, *data));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("bucket 12: "));
  EXPECT_EQ(model->Report().size(), 3u);
  EXPECT_EQ(model->group()->arena_bytes(), model->Report().back().memory.planned_bytes);
}

// Returns a module in which no array has vocabulary * words of a batch elements.
absl::StatusOr<std::unique_ptr<BucketingModule>> MakeLean(SymGen sym_gen) {
  return BucketingModule::Create({.sym_gen = std::move(sym_gen),
                                  .default_bucket_key = 12,
                                  .compute = {.label_probabilities = true}});
}

TEST(ModulePageTest, TrainsWithoutOutputsOfAllClasses) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, MakeLean(NextOfFive));
  const auto metric = Perplexity({.ignore_label = 0});
  COOPER_ASSERT_OK(model->Fit(
      *data,
      {.eval_metric = metric.get(), .params = {.initializer = init::Xavier()}, .num_epoch = 2}));
  EXPECT_LT(metric->GetNameValue()[0].second, 6);  // words are drawn: 5 is the best
  EXPECT_EQ(model->output_shapes()[0].second[1], 1);
}

// Loads a checkpoint of BucketingModule::SaveCheckpoint and returns its outputs for `words`
// (batch_size, length): (batch_size * length, words), a row per position. `length` must be the key
// of a saved bucket.
absl::StatusOr<NDArray> PredictNextWords(const std::string& prefix, int epoch,
                                         const NDArray& words) {
  const BucketKey length = static_cast<int>(words.shape()[1]);
  const std::vector<DataDesc> data = {{.name = "data", .shape = words.shape()}};
  // Its shape does not follow from the data's, since the symbol reshapes it; no batch brings one.
  const std::vector<DataDesc> label = {{.name = "softmax_label", .shape = words.shape()}};
  COOPER_ASSIGN_OR_RETURN(auto model,
                          BucketingModule::Load(prefix, epoch, {.default_bucket_key = length}));
  COOPER_RETURN_IF_ERROR(
      model->Bind({.data_shapes = data, .label_shapes = label, .for_training = false}));
  COOPER_RETURN_IF_ERROR(model->Forward({.data = {words}, .bucket_key = length}));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, model->GetOutputs());
  return outputs[0].Copy();  // the next bucket's batch overwrites the outputs themselves
}

TEST(ModulePageTest, PredictsWithASavedBucket) {
  const std::string prefix = testing::TempDir() + "five";
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  COOPER_ASSERT_OK(BindAllBuckets(*model, *data));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Xavier()}));
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 1));
  const std::vector<float> words = {1, 2, 3, 4, 5, 1, 2, 3};
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray next,
                              PredictNextWords(prefix, 1, *NDArray::FromVector({2, 4}, words)));
  EXPECT_EQ(next.shape(), Shape({8, 6}));
  const std::vector<float> rows = *next.ToVector<float>();
  EXPECT_NEAR(std::accumulate(rows.begin(), rows.begin() + 6, 0.0), 1, 1e-5);
  EXPECT_THAT(PredictNextWords(prefix, 1, *NDArray::FromVector({4, 2}, words)).status().message(),
              HasSubstr("2"));
}

// Trains on two CPU contexts, the first of which computes 20 of 32 rows.
absl::Status TrainOnTwoContexts(const Symbol& net, DataIter& data) {
  COOPER_ASSIGN_OR_RETURN(
      auto model, Module::Create(net, {.compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)},
                                                   .work_load_list = {20, 12}}}));
  return model->Fit(data, {.optimizer = {.kvstore = "device"}, .num_epoch = 2});
}

TEST(ModulePageTest, TrainsOnTwoContexts) {
  const std::vector<float> rows(64 * 10, 0.5f), labels(64, 1);
  const Symbol net = TwoLayers();
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data, NDArrayIter::Create({{"data", *NDArray::FromVector({64, 10}, rows)}},
                                     {{"softmax_label", *NDArray::FromVector({64}, labels)}},
                                     {.batch_size = 32}));
  COOPER_EXPECT_OK(TrainOnTwoContexts(net, *data));
}

// Trains in several processes, each of which calls this: each has 8 of the sentences of a step.
absl::Status TrainInProcesses(BucketingModule& model,
                              const std::vector<std::vector<int>>& sentences,
                              const std::string& kvstore) {
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<KVStore> store, CreateKVStore(kvstore));
  COOPER_ASSIGN_OR_RETURN(
      auto data,
      BucketSentenceIter::Create(
          sentences, /*batch_size=*/8,
          {.buckets = {4, 8, 12},
           .invalid_label = 0,
           .common = {.seed = 1, .part_index = store->rank(), .num_parts = store->num_workers()}}));
  return model.Fit(*data, {.optimizer = {.kvstore_instance = store}, .num_epoch = 2});
}

// With one process; module/kvstore/mpi has the tests with several.
TEST(ModulePageTest, TrainsInProcesses) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  COOPER_EXPECT_OK(TrainInProcesses(*model, SentencesOfFiveWords(), "local"));
}

// Returns the perplexity without padding (label 0) and without positions where `mask` is 0.
absl::StatusOr<double> PerplexityOf(const NDArray& labels, const NDArray& probabilities,
                                    const NDArray& mask) {
  const auto metric = Perplexity({.ignore_label = 0});
  COOPER_RETURN_IF_ERROR(metric->Update({labels}, {probabilities}, {mask}));
  return metric->GetNameValue()[0].second;
}

TEST(ModulePageTest, LeavesPositionsOut) {
  const NDArray labels = *NDArray::FromVector<float>({2, 2}, {1, 2, 1, 0});
  const NDArray mask = *NDArray::FromVector<float>({2, 2}, {1, 0, 1, 1});
  const NDArray probabilities = *NDArray::FromVector<float>(
      {4, 3}, {.25f, .5f, .25f, .9f, .1f, 0, .375f, .125f, .5f, .9f, .1f, 0});
  COOPER_ASSERT_OK_AND_ASSIGN(const double value, PerplexityOf(labels, probabilities, mask));
  EXPECT_NEAR(value, 4, 1e-9);  // the root of 1 / (0.5 * 0.125)
}

// Trains with a line in the log for each layer's output, parameter and gradient, every 50 batches.
absl::Status TrainWatched(BaseModule& model, DataIter& data) {
  COOPER_ASSIGN_OR_RETURN(auto monitor, Monitor::Create({.interval = 50, .pattern = "fc|pred"}));
  return model.Fit(data, {.monitor = monitor.get(), .num_epoch = 1});
}

TEST(ModulePageTest, TrainsWatched) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  testing::internal::CaptureStderr();  // where glog writes
  const absl::Status status = TrainWatched(*model, *data);
  const std::string log = testing::internal::GetCapturedStderr();
  COOPER_ASSERT_OK(status);
  EXPECT_THAT(log, HasSubstr("Batch:       1 pred_weight_grad "));
}

}  // namespace
}  // namespace cooper
