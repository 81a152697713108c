#include "benchmarks/lm_epochs.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/batch/bucket_key.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "tools/lm_train/lm_corpus.h"

namespace cooper {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

absl::StatusOr<double> Validate(BucketingModule& model, BucketSentenceIter& iter) {
  const auto metric = Perplexity({.ignore_label = 0});
  COOPER_ASSIGN_OR_RETURN(const auto values, model.Score(iter, *metric));
  return values[0].second;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LmEpochs>> LmEpochs::Create(LmEpochsOptions options) {
  auto epochs = std::unique_ptr<LmEpochs>(new LmEpochs(std::move(options)));
  const LmEpochsOptions& o = epochs->options_;
  COOPER_ASSIGN_OR_RETURN(const LmCorpus corpus,
                          ReadLmCorpus(o.train_path, o.valid_path, o.max_sentences));
  epochs->vocab_ = corpus.vocab;
  COOPER_ASSIGN_OR_RETURN(const auto train, epochs->MakeIter(corpus.train));
  for (const BucketSentenceIterReport::Bucket& bucket : train->report().buckets) {
    if (bucket.batches > 0) epochs->buckets_.push_back(bucket.length);
  }
  if (epochs->buckets_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(o.train_path, ": no bucket has the ", o.batch_size, " sentences of a batch"));
  }
  if (o.buckets.empty()) {  // the validation text uses the same buckets
    for (const BucketKey& key : train->bucket_keys()) {
      epochs->options_.buckets.push_back(key.int_value());
    }
    epochs->options_.max_buckets = 0;
    epochs->options_.bucket_cost = 0;
    epochs->options_.max_length = 0;
  }
  if (!o.valid_path.empty()) {
    COOPER_ASSIGN_OR_RETURN(epochs->valid_, epochs->MakeIter(corpus.valid));
  }
  return epochs;
}

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> LmEpochs::MakeIter(
    const std::vector<std::vector<int>>& sentences) const {
  return BucketSentenceIter::Create(sentences, options_.batch_size,
                                    {.buckets = options_.buckets,
                                     .invalid_label = 0,
                                     .max_length = options_.max_length,
                                     .common = {.max_buckets = options_.max_buckets,
                                                .bucket_cost = options_.bucket_cost,
                                                .seed = options_.seed}});
}

absl::StatusOr<EpochTimes> LmEpochs::Run(BucketingModule& model, int epochs) {
  EpochTimes times;
  auto start = Clock::now();
  COOPER_ASSIGN_OR_RETURN(const LmCorpus corpus,
                          ReadLmCorpus(options_.train_path, "", options_.max_sentences));
  ++options_.seed;  // another order in each run
  COOPER_ASSIGN_OR_RETURN(const auto iter, MakeIter(corpus.train));
  times.input_seconds = SecondsSince(start);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    if (epoch > 0) COOPER_RETURN_IF_ERROR(iter->Reset());
    COOPER_ASSIGN_OR_RETURN(const double perplexity, TrainEpoch(model, *iter, &times));
    times.perplexity.push_back(perplexity);
    times.seconds += SecondsSince(start);
    if (valid_ != nullptr) {
      COOPER_ASSIGN_OR_RETURN(const double valid_perplexity, Validate(model, *valid_));
      times.valid_perplexity.push_back(valid_perplexity);
    }
    start = Clock::now();
  }
  return times;
}

absl::StatusOr<double> LmEpochs::TrainEpoch(BucketingModule& model, BucketSentenceIter& iter,
                                            EpochTimes* times) {
  const auto metric = Perplexity({.ignore_label = 0});
  while (true) {
    const auto start = Clock::now();
    COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, iter.Next());
    times->input_seconds += SecondsSince(start);
    if (!batch) break;
    COOPER_RETURN_IF_ERROR(model.ForwardBackward(*batch));
    COOPER_RETURN_IF_ERROR(model.Update());
    COOPER_RETURN_IF_ERROR(model.UpdateMetric(*metric, batch->label));
    for (const int64_t length : batch->lengths) times->tokens += length - 1;
    times->padded_tokens += batch->data[0].size();
  }
  return metric->GetNameValue()[0].second;
}

}  // namespace cooper
