// Trains in one of several processes whose data ends at different times, or in a process alone,
// with validation, early stopping and a best state. Prints the prefix of its states, its rank, and
// the position from which it resumes; processes_kill_test.sh kills it.
//
// uneven_training PREFIX EPOCHS KIND [SHARDS]: writes files PREFIX-rank<R>-... of a training of
// KIND:
//   alone        one process, without a store over several
//   plain        one batch for each update
//   compressed   gradients of 2 bits; each process keeps its residuals
//   accumulated  three batches for each update
//   added        gradients that accumulate from the first batch on
//   short        rank 0 has only short sentences, so that its largest bucket is empty
//   stream       a BucketStream over the files SHARDS, of which each process reads its own
//   stream_alone one process; a stream that mixes two sources, behind a PrefetchingIter

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/executor_fixtures.h"
#include "io/batch/data_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "io/streams/bucket_stream.h"
#include "io/streams/stream_inputs.h"
#include "io/streams/text_source.h"
#include "io/text/encode_sentences.h"
#include "module/bucketing/bucketing_module.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/training_state.h"
#include "module/fit/early_stopping.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/kvstore.h"
#include "module/lr_scheduler/step_schedulers.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr int kWords = 6;

// Returns a network that predicts the next word; only the longer bucket has a layer `more`.
absl::StatusOr<BucketSymbol> Guess(const BucketKey& key) {
  Symbol rows = Op("Embedding", {.name = "embed",
                                 .inputs = {Symbol::Variable("data")},
                                 .attrs = {{"input_dim", "6"}, {"output_dim", "4"}}});
  rows = Op("Reshape", {.inputs = {rows}, .attrs = {{"shape", "(-1, 4)"}}});
  rows = Op("BatchNorm", {.name = "norm", .inputs = {rows}, .attrs = {{"fix_gamma", "False"}}});
  if (key == BucketKey(5)) {
    rows = Op("FullyConnected", {.name = "more", .inputs = {rows}, .attrs = {{"num_hidden", "4"}}});
  }
  rows = Op("Dropout", {.inputs = {rows}, .attrs = {{"p", "0.2"}}});
  const Symbol pred =
      Op("FullyConnected", {.name = "pred", .inputs = {rows}, .attrs = {{"num_hidden", "6"}}});
  const Symbol labels =
      Op("Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  return BucketSymbol{
      .symbol = Op("SoftmaxOutput", {.name = "softmax",
                                     .inputs = {pred, labels},
                                     .attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}}})};
}

// Returns an iterator over a rank's sentences. Rank 0 has the fewest sentences, and one batch of
// long ones, or none with `only_short`; each further rank has more.
std::unique_ptr<BucketSentenceIter> MakeIter(int rank, bool is_training, bool only_short = false) {
  RandomGenerator random(7 + rank);
  std::vector<std::vector<int>> sentences(13 + 21 * rank);  // some roll over
  for (size_t i = 0; i < sentences.size(); ++i) {
    const bool is_long = rank == 0 ? i < 4 && !only_short : i % 2 == 1;
    sentences[i].resize(is_long ? 5 : 3);
    for (int& word : sentences[i]) word = 1 + static_cast<int>(random.NextBelow(kWords - 1));
  }
  using LastBatch = BucketSentenceIterOptions::LastBatch;
  return *BucketSentenceIter::Create(
      sentences, 4,
      {.buckets = {3, 5},
       .invalid_label = 0,
       .common = {.last_batch = is_training ? LastBatch::kRollOver : LastBatch::kPad,
                  .shuffle = is_training,
                  .seed = static_cast<uint64_t>(rank)}});
}

// Returns a stream of few held sentences, the longest of which are split. A null `store` is that of
// a single process.
absl::StatusOr<std::unique_ptr<DataIter>> MakeStream(const std::string& shards, KVStore* store) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, GlobPaths(shards));
  Vocabulary vocabulary;
  for (int i = 1; i < kWords; ++i) vocabulary[absl::StrCat("w", i)] = i;
  COOPER_ASSIGN_OR_RETURN(const auto source, TextSource(paths, vocabulary));
  const StreamInputs inputs = NextWordInputs({.invalid_label = 0});
  BucketStreamOptions options = {
      .batch_size = 4,
      .buckets = {3, 5},
      .too_long = BucketStreamOptions::TooLong::kSplit,
      .pool_samples = 20,
      .agree_batches = 3,
      .common = {.last_batch = BucketStreamOptions::LastBatch::kPad, .sort_batches = 2}};
  if (store != nullptr) {
    options.common.part_index = store->rank();
    options.common.num_parts = store->num_workers();
    options.all_gather = [store](const std::string& text) { return store->AllGather(text); };
    return BucketStream::Create(source, inputs, options);
  }
  options.epoch_samples = 150;
  std::vector<std::unique_ptr<DataIter>> iters(1);
  COOPER_ASSIGN_OR_RETURN(
      iters[0],
      BucketStream::Create({{.source = source, .weight = 2}, {.source = source}}, inputs, options));
  return PrefetchingIter::Create(std::move(iters));
}

absl::Status Train(const std::string& prefix, int epochs, const std::string& kind,
                   const std::string& shards) {
  std::shared_ptr<KVStore> store;
  if (kind != "alone" && kind != "stream_alone") {
    COOPER_ASSIGN_OR_RETURN(store, CreateKVStore("dist_sync"));
  }
  const int rank = store == nullptr ? 1 : store->rank();
  const std::string own = absl::StrCat(prefix, "-rank", store == nullptr ? 0 : rank);
  std::ofstream(own + ".pid") << getpid() << std::endl;

  std::unique_ptr<DataIter> data = MakeIter(rank, /*is_training=*/true, kind == "short");
  if (!shards.empty()) {
    COOPER_ASSIGN_OR_RETURN(data, MakeStream(shards, store.get()));
  }
  const auto validation = MakeIter(1, /*is_training=*/false);
  BucketingModuleOptions options{.sym_gen = Guess, .default_bucket_key = 5};
  if (kind == "compressed") {
    options.compute.compression_params = {{"type", "2bit"}, {"threshold", "0.01"}};
  }
  COOPER_ASSIGN_OR_RETURN(const auto module, BucketingModule::Create(options));
  const auto metric = Perplexity({.ignore_label = 0});
  const auto validation_metric = Perplexity({.ignore_label = 0});
  EarlyStopping stopping({.metric = "perplexity", .patience = 2, .log = nullptr});
  const TrainingRun run{.module = module.get(),
                        .iter = data.get(),
                        .metric = metric.get(),
                        .callbacks = {{"early_stopping", &stopping}}};
  // Keeps a single state, so that ranks cannot fall back to an older common one.
  COOPER_ASSIGN_OR_RETURN(const auto checkpointer,
                          Checkpointer::Create({.prefix = own, .keep_last = 1}));
  // Gradients that accumulate over the whole training are large and need a small learning rate.
  LRSchedulerOptions rate{.base_lr = kind == "added" ? 0.001 : 0.05};
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<LRScheduler> schedule,
                          FactorScheduler::Create({.common = rate, .step = 30, .factor = 0.9}));
  FitOptions fit{.eval_data = validation.get(),
                 .eval_metric = metric.get(),
                 .validation_metric = validation_metric.get(),
                 .eval_end_callbacks = {stopping.AtEvalEnd()},
                 .progress = nullptr,
                 .stop_on_signal = true,
                 .optimizer = {.optimizer = "sgd",
                               .kvstore_instance = store,
                               .optimizer_params = {{"momentum", "0.9"}},
                               .lr_scheduler = std::move(schedule)},
                 .params = {.initializer = init::Uniform(0.5)},
                 .grad_req = kind == "added" ? WriteReq::kAdd : WriteReq::kWrite,
                 .accumulate_batches = kind == "accumulated" ? 3 : 1,
                 .seed = 3,
                 .num_epoch = epochs};
  checkpointer->Attach(run, {.every = 1}, &fit);
  COOPER_ASSIGN_OR_RETURN(const bool resumed, checkpointer->Resume(run, &fit));
  std::cout << absl::StrCat(resumed ? "resumed" : "anew", " epoch ", fit.begin_epoch, " batches ",
                            fit.begin_batch, " rank ", rank, "\n")
            << std::flush;
  COOPER_RETURN_IF_ERROR(module->Fit(*data, fit));
  std::cout << absl::StrCat(stopping.stopped() ? "stopped" : "ended", ", best epoch ",
                            stopping.best_epoch(), "\n");
  COOPER_RETURN_IF_ERROR(stopping.RestoreBest(*module));
  return module->SaveParams(own + ".params");
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  const absl::Status status =
      cooper::Train(argv[1], std::atoi(argv[2]), argv[3], argc == 5 ? argv[4] : "");
  if (!status.ok()) std::cerr << status << std::endl;
  return status.ok() ? 0 : 1;
}
