// Measures the cost of padding: trains the language model twice on one text, with fixed buckets and
// a fixed batch size, and with chosen buckets, a number of tokens per batch, sorting by length, and
// the lengths as an input. Both runs alternate on equally many words, so that the load of the
// machine affects both equally. Prints for each, and as ratios, words per second of wall time and
// per second of processor time (both without padding), and the perplexity of a validation text
// after equally many words.
//
// padding_benchmark --train=train.txt --valid=valid.txt

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/metric/classification.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/status_macros.h"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/lm_corpus.h"
#include "tools/lm_train/model_flags.h"

ABSL_FLAG(std::string, train, "", "training text, a sentence a line");
ABSL_FLAG(std::string, valid, "", "validation text");
ABSL_FLAG(int64_t, max_words, 1000, "most frequent words of the text, with numbers of their own");
ABSL_FLAG(int, fixed_step, 10,
          "the fixed buckets are multiples of this, up to fixed_max_length; 0: one for each length "
          "that fills a batch, without padding");
ABSL_FLAG(int, fixed_max_length, 60, "the longest of the fixed buckets");
ABSL_FLAG(int, fixed_batch_size, 32, "sentences in each batch of the fixed buckets");
ABSL_FLAG(int64_t, tokens_per_batch, 800,
          "words in each batch of the chosen buckets, with padding");
ABSL_FLAG(int64_t, sort_batches, 8, "batches of a chosen bucket that are sorted together");
ABSL_FLAG(bool, use_lengths, true, "the network of the chosen buckets gets the lengths");
ABSL_FLAG(int64_t, round_words, 20000, "words that each trains on before the other's turn");
ABSL_FLAG(int, rounds, 26, "turns; the first one is not timed: buckets are bound in it");

namespace cooper {
namespace {

double ProcessorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// One of the two training setups.
class Way {
 public:
  // Creates a setup. `options` are those of the training batches; the network gets the lengths if
  // they name a length array.
  static absl::StatusOr<std::unique_ptr<Way>> Create(std::string name, const LmCorpus& corpus,
                                                     int64_t batch_size,
                                                     const BucketSentenceIterOptions& options) {
    auto way = std::make_unique<Way>();
    way->name_ = std::move(name);
    LanguageModelOptions model = ModelOptionsFromFlags();
    model.vocab = corpus.vocab;
    model.use_ignore = true;
    model.use_lengths = !options.length_name.empty();
    COOPER_ASSIGN_OR_RETURN(way->train_,
                            BucketSentenceIter::Create(corpus.train, batch_size, options));
    if (way->train_->num_batches() == 0) {
      return absl::InvalidArgumentError(absl::StrCat("--train=", absl::GetFlag(FLAGS_train),
                                                     ": no ", way->name_,
                                                     " bucket has the sentences of a batch"));
    }
    BucketSentenceIterOptions valid = {
        .invalid_label = 0,
        .length_name = options.length_name,
        .common = {.last_batch = BucketSentenceIterOptions::LastBatch::kPad, .shuffle = false}};
    for (const BucketKey& key : way->train_->bucket_keys()) {
      valid.buckets.push_back(key.int_value());
    }
    COOPER_ASSIGN_OR_RETURN(way->valid_,
                            BucketSentenceIter::Create(corpus.valid, batch_size, valid));
    COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeLanguageModel(model));
    COOPER_ASSIGN_OR_RETURN(
        way->model_,
        BucketingModule::Create(
            {.sym_gen = std::move(sym_gen),
             .default_bucket_key = way->train_->default_bucket_key(),
             .compute = {.label_probabilities = absl::GetFlag(FLAGS_label_probabilities)}}));
    COOPER_RETURN_IF_ERROR(way->model_->Bind({.data_shapes = way->train_->provide_data(),
                                              .label_shapes = way->train_->provide_label()}));
    COOPER_RETURN_IF_ERROR(way->model_->InitParams(
        {.initializer = LanguageModelInitializer(), .seed = absl::GetFlag(FLAGS_seed)}));
    InitOptimizerOptions optimizer;
    COOPER_ASSIGN_OR_RETURN(optimizer, OptimizerFromFlags());
    optimizer.normalization = GradientNormalization::kTokens;
    COOPER_RETURN_IF_ERROR(way->model_->InitOptimizer(optimizer));
    return way;
  }

  // Trains until it has processed `words` in total.
  absl::Status TrainUpTo(int64_t words, bool is_timed) {
    const auto start = std::chrono::steady_clock::now();
    const double processor_start = ProcessorSeconds();
    const int64_t words_start = words_;
    while (words_ < words) {
      COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, train_->Next());
      if (!batch.has_value()) {
        COOPER_RETURN_IF_ERROR(train_->Reset());
        continue;
      }
      COOPER_RETURN_IF_ERROR(model_->ForwardBackward(*batch));
      COOPER_RETURN_IF_ERROR(model_->Update());
      ++steps_;
      for (int64_t length : batch->lengths) words_ += length;
    }
    if (!is_timed) return absl::OkStatus();
    const auto trained = static_cast<double>(words_ - words_start);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    per_second_.push_back(trained / wall.count());
    per_processor_second_.push_back(trained / (ProcessorSeconds() - processor_start));
    return absl::OkStatus();
  }

  absl::StatusOr<double> Perplexity() {
    const std::unique_ptr<EvalMetric> metric = cooper::Perplexity({.ignore_label = 0});
    COOPER_ASSIGN_OR_RETURN(const auto values, model_->Score(*valid_, *metric));
    return values[0].second;
  }

  const std::string& name() const { return name_; }
  const BucketSentenceIterReport& report() const { return train_->report(); }
  int64_t steps() const { return steps_; }
  int64_t words() const { return words_; }
  // Return the rates by round.
  const std::vector<double>& per_second() const { return per_second_; }
  const std::vector<double>& per_processor_second() const { return per_processor_second_; }

 private:
  std::string name_;
  std::unique_ptr<BucketSentenceIter> train_, valid_;
  std::unique_ptr<BucketingModule> model_;
  int64_t words_ = 0, steps_ = 0;
  std::vector<double> per_second_, per_processor_second_;
};

absl::StatusOr<std::unique_ptr<Way>> Fixed(const LmCorpus& corpus) {
  BucketSentenceIterOptions options = {.invalid_label = 0,
                                       .common = {.seed = absl::GetFlag(FLAGS_seed)}};
  const int64_t step = absl::GetFlag(FLAGS_fixed_step);
  for (int64_t length = step; step > 0 && length <= absl::GetFlag(FLAGS_fixed_max_length);
       length += step) {
    options.buckets.push_back(length);
  }
  return Way::Create("fixed", corpus, absl::GetFlag(FLAGS_fixed_batch_size), options);
}

absl::StatusOr<std::unique_ptr<Way>> Chosen(const LmCorpus& corpus) {
  COOPER_ASSIGN_OR_RETURN(const BucketFlags flags, BucketsFromFlags());
  return Way::Create("chosen", corpus, absl::GetFlag(FLAGS_batch_size),
                     {.buckets = flags.lengths,
                      .invalid_label = 0,
                      .max_length = flags.max_length,
                      .length_name = absl::GetFlag(FLAGS_use_lengths) ? "length" : "",
                      .common = {.max_buckets = flags.max_buckets,
                                 .bucket_cost = flags.bucket_cost,
                                 .tokens_per_batch = absl::GetFlag(FLAGS_tokens_per_batch),
                                 .sort_batches = absl::GetFlag(FLAGS_sort_batches),
                                 .seed = absl::GetFlag(FLAGS_seed)}});
}

std::vector<double> Ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

void PrintRatios(const char* what, const std::vector<double>& ratios) {
  std::printf("  %-26s %.3f (%.3f to %.3f over %d turns)\n", what, Median(ratios), ratios.front(),
              ratios.back(), static_cast<int>(ratios.size()));
}

absl::Status CheckFlags() {
  COOPER_RETURN_IF_ERROR(CheckModelFlags());
  if (absl::GetFlag(FLAGS_rounds) < 2) return absl::InvalidArgumentError("--rounds: at least 2");
  if (absl::GetFlag(FLAGS_round_words) < 1) {
    return absl::InvalidArgumentError("--round_words: at least 1");
  }
  const int step = absl::GetFlag(FLAGS_fixed_step);
  const int longest = absl::GetFlag(FLAGS_fixed_max_length);
  if (step >= 0 && longest >= step) return absl::OkStatus();
  // An empty list of buckets would make the iterator choose them.
  return absl::InvalidArgumentError(
      absl::StrCat("--fixed_step=", step, " --fixed_max_length=", longest,
                   ": expected a step of 0 or more, and a length that is no shorter"));
}

absl::Status Run() {
  COOPER_RETURN_IF_ERROR(CheckFlags());
  COOPER_RETURN_IF_ERROR(ApplyComputeFlags());
  COOPER_ASSIGN_OR_RETURN(const LmCorpus corpus,
                          ReadLmCorpus(absl::GetFlag(FLAGS_train), absl::GetFlag(FLAGS_valid),
                                       /*max_sentences=*/-1, absl::GetFlag(FLAGS_max_words)));
  if (corpus.valid.empty()) return absl::InvalidArgumentError("--valid: no text");
  std::vector<std::unique_ptr<Way>> ways(2);
  COOPER_ASSIGN_OR_RETURN(ways[0], Fixed(corpus));
  COOPER_ASSIGN_OR_RETURN(ways[1], Chosen(corpus));
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    // The setup that goes first alternates.
    for (int k = 0; k < 2; ++k) {
      COOPER_RETURN_IF_ERROR(ways[(k + round) % 2]->TrainUpTo(
          (round + 1) * absl::GetFlag(FLAGS_round_words), /*is_timed=*/round > 0));
    }
  }
  std::vector<double> perplexity;
  for (const auto& way : ways) {
    COOPER_ASSIGN_OR_RETURN(perplexity.emplace_back(), way->Perplexity());
    const BucketSentenceIterReport& report = way->report();
    std::printf(
        "%-7s %d buckets, %.1f %% padding; %d words in %d steps; %.0f words/s, %.0f per second of "
        "processor time; perplexity %.2f\n",
        way->name().c_str(), static_cast<int>(report.buckets.size()),
        100 * (1 - static_cast<double>(report.tokens) / static_cast<double>(report.padded_tokens)),
        static_cast<int>(way->words()), static_cast<int>(way->steps()), Median(way->per_second()),
        Median(way->per_processor_second()), perplexity.back());
  }
  std::printf("chosen / fixed, medians of turns:\n");
  PrintRatios("words/s", Ratios(ways[1]->per_second(), ways[0]->per_second()));
  PrintRatios("per processor second",
              Ratios(ways[1]->per_processor_second(), ways[0]->per_processor_second()));
  std::printf("  %-26s %.3f\n", "perplexity", perplexity[1] / perplexity[0]);
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("what padding costs in training a language model");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = cooper::Run();
  if (status.ok()) return 0;
  std::cerr << "padding_benchmark: " << status.message() << std::endl;
  return 1;
}
