// Measures the cost of buckets besides their steps: binding the first one (symbol, inference,
// passes, gradient, plan and kernels; vocabulary of 10,000, 2 LSTM layers of 200, batches of 32),
// binding six, PrepareAll on one thread and on several, the memory that each bucket keeps,
// switching between two bound buckets, and an epoch by Fit beside the steps that it consists of.

#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

BucketShapes ShapesOf(int64_t length) {
  const Shape shape({32, length});
  return {.key = length,
          .data_shapes = {{.name = "data", .shape = shape, .layout = "NT"}},
          .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}};
}

// Returns a model with these buckets bound; the last one is the default.
absl::StatusOr<std::unique_ptr<BucketingModule>> BindModel(const std::vector<int64_t>& lengths) {
  COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeLanguageModel({.vocab = 10000}));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = std::move(sym_gen), .default_bucket_key = lengths.back()}));
  std::vector<BucketShapes> buckets;
  buckets.reserve(lengths.size());
  for (const int64_t length : lengths) buckets.push_back(ShapesOf(length));
  COOPER_RETURN_IF_ERROR(model->Bind(
      {.data_shapes = buckets.back().data_shapes, .label_shapes = buckets.back().label_shapes}));
  COOPER_RETURN_IF_ERROR(model->PrepareAll(buckets).status());
  return model;
}

void BindBuckets(benchmark::State& bench, const std::vector<int64_t>& lengths) {
  for (auto _ : bench) {
    const auto model = BindModel(lengths);
    if (!model.ok()) return bench.SkipWithError(model.status().ToString().c_str());
  }
}

void BM_BindFirst(benchmark::State& bench) { BindBuckets(bench, {bench.range(0)}); }
BENCHMARK(BM_BindFirst)
    ->ArgName("length")
    ->Arg(60)
    ->Arg(250)
    ->Arg(500)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

void BM_BindSix(benchmark::State& bench) { BindBuckets(bench, {10, 20, 30, 40, 50, 60}); }
BENCHMARK(BM_BindSix)->Unit(benchmark::kMillisecond);

void BM_PrepareSix(benchmark::State& bench) {
  using Clock = std::chrono::steady_clock;
  const int before = NumThreads();
  SetNumThreads(static_cast<int>(bench.range(0)));
  std::vector<BucketShapes> buckets;
  for (const int64_t length : {10, 20, 30, 40, 50, 60}) buckets.push_back(ShapesOf(length));
  for (auto _ : bench) {
    const auto model = BindModel({5});
    if (!model.ok()) return bench.SkipWithError(model.status().ToString().c_str());
    const Clock::time_point start = Clock::now();
    const absl::Status status = (*model)->PrepareAll(buckets).status();
    bench.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    if (!status.ok()) return bench.SkipWithError(status.ToString().c_str());
  }
  SetNumThreads(before);
}
BENCHMARK(BM_PrepareSix)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Reports the heap bytes that bound buckets keep besides the shared arena (graphs, programs and
// plans), per step of their lengths. Not a time.
void BM_BytesOfAStep(benchmark::State& bench) {
  const auto heap_bytes = [] {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  };
  std::vector<BucketShapes> buckets;
  double steps = 0;
  for (int64_t length = bench.range(0); length < bench.range(1); ++length) {
    buckets.push_back(ShapesOf(length));
    steps += static_cast<double>(length);
  }
  for (auto _ : bench) {
    auto model = BindModel({60});
    if (!model.ok()) return bench.SkipWithError(model.status().ToString().c_str());
    const double before = heap_bytes();
    const absl::Status status = (*model)->PrepareAll(buckets).status();
    if (!status.ok()) return bench.SkipWithError(status.ToString().c_str());
    bench.counters["bytes_per_step"] = (heap_bytes() - before) / steps;
  }
}
BENCHMARK(BM_BytesOfAStep)->ArgNames({"from", "to"})->Args({10, 20})->Args({50, 60})->Iterations(1);

void BM_SwitchBucket(benchmark::State& bench) {
  auto model = BindModel({10, 20});
  if (!model.ok()) return bench.SkipWithError(model.status().ToString().c_str());
  const std::vector<BucketShapes> buckets = {ShapesOf(10), ShapesOf(20)};
  size_t next = 0;
  for (auto _ : bench) {
    const BucketShapes& bucket = buckets[next];
    next = 1 - next;
    const absl::Status status =
        (*model)->SwitchBucket(bucket.key, bucket.data_shapes, bucket.label_shapes);
    if (!status.ok()) return bench.SkipWithError(status.ToString().c_str());
  }
}
BENCHMARK(BM_SwitchBucket);

// Four batches of 32 sentences for each of six buckets, which the sentences fill.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> MakeSentences() {
  std::vector<std::vector<int>> sentences;
  int word = 0;
  for (const int length : {10, 20, 30, 40, 50, 60}) {
    for (int row = 0; row < 4 * 32; ++row) {
      std::vector<int>& sentence = sentences.emplace_back(length);
      for (int& id : sentence) id = 1 + (word += 7919) % 9999;
    }
  }
  return BucketSentenceIter::Create(sentences, 32,
                                    {.buckets = {10, 20, 30, 40, 50, 60}, .invalid_label = 0});
}

InitOptimizerOptions Sgd() {
  return {.optimizer = "sgd", .optimizer_params = {{"learning_rate", 0.01}}};
}

// Calls `epoch` in each iteration, for a model that is ready to train and an iterator at its start.
void TrainEpochs(benchmark::State& bench,
                 absl::FunctionRef<absl::Status(BucketingModule&, DataIter&)> epoch) {
  const auto run = [&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const auto sentences, MakeSentences());
    COOPER_ASSIGN_OR_RETURN(const auto model, BindModel({10, 20, 30, 40, 50, 60}));
    COOPER_RETURN_IF_ERROR(model->InitParams({.initializer = LanguageModelInitializer()}));
    COOPER_RETURN_IF_ERROR(model->InitOptimizer(Sgd()));
    for (auto _ : bench) {
      COOPER_RETURN_IF_ERROR(sentences->HardReset());
      COOPER_RETURN_IF_ERROR(epoch(*model, *sentences));
    }
    return absl::OkStatus();
  };
  const absl::Status status = run();
  if (!status.ok()) bench.SkipWithError(status.ToString().c_str());
}

void BM_EpochBySteps(benchmark::State& bench) {
  TrainEpochs(bench, [](BucketingModule& model, DataIter& data) -> absl::Status {
    while (true) {
      COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, data.Next());
      if (!batch) return absl::OkStatus();
      COOPER_RETURN_IF_ERROR(model.TrainStep(*batch));
    }
  });
}
BENCHMARK(BM_EpochBySteps)->Unit(benchmark::kMillisecond)->UseRealTime();

// With the default checks and a metric. Run with --benchmark_repetitions=7 and
// --benchmark_enable_random_interleaving to compare.
void BM_EpochByFit(benchmark::State& bench) {
  const auto metric = Perplexity({.ignore_label = 0});
  TrainEpochs(bench, [&](BucketingModule& model, DataIter& data) {
    return model.Fit(
        data,
        {.eval_metric = metric.get(), .progress = nullptr, .optimizer = Sgd(), .num_epoch = 1});
  });
}
BENCHMARK(BM_EpochByFit)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace cooper
