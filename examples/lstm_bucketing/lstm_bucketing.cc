// Trains a language model: an LSTM that predicts the next word of sentences of any length.
//
//   lstm_bucketing                        on generated sentences
//   lstm_bucketing train.txt [valid.txt]  on texts with one sentence per line
//
// Sentences of similar length share a batch and are padded to the length of their bucket.
// LanguageModel() builds the network for one length, and the networks of all lengths share their
// parameters. This is MXNet's example/rnn/bucketing/lstm_bucketing.py in C++.

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

constexpr int64_t kBatchSize = 32;
constexpr int64_t kNumHidden = 200;
constexpr int kNumLayers = 2;
constexpr int kNumEpochs = 8;
constexpr int kPadding = 0;  // the id that fills sentences up to the length of their bucket

// Sentences as word ids from 1.
struct Corpus {
  std::vector<std::vector<int>> train;
  std::vector<std::vector<int>> valid;  // may be empty
  int64_t num_ids = 0;                  // including kPadding
};

// Reads texts with one sentence per line and spaces between words. Words of the validation text
// that the training text lacks share one id. `valid_path` may be empty.
absl::StatusOr<Corpus> ReadCorpus(const std::string& train_path, const std::string& valid_path) {
  const EncodeSentencesOptions options = {
      .invalid_label = kPadding, .start_label = 1, .unknown_token = "<unk>"};
  COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> train, ReadSentences(train_path));
  if (train.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(train_path, ": the text has no sentence"));
  }
  EncodedSentences encoded = EncodeSentences(train, options);
  Corpus corpus = {.train = std::move(encoded.sentences)};
  if (!valid_path.empty()) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> valid, ReadSentences(valid_path));
    COOPER_ASSIGN_OR_RETURN(encoded, EncodeSentences(valid, encoded.vocabulary, options));
    corpus.valid = std::move(encoded.sentences);
  }
  corpus.num_ids = static_cast<int64_t>(encoded.vocabulary.size());
  return corpus;
}

// Returns sentences of 5 to 60 words out of 100. Each word has four successors with probabilities
// 1/2, 1/4, 1/8 and 1/8: 1.75 bits, so that the perplexity of no model is below 2^1.75 = 3.36.
Corpus GenerateCorpus() {
  RandomGenerator random(/*seed=*/1);
  const auto sentence = [&random] {
    std::vector<int> ids(5 + random.NextBelow(56));
    int word = static_cast<int>(random.NextBelow(100));
    for (int& id : ids) {
      id = word + 1;
      const int eighth = static_cast<int>(random.NextBelow(8));
      const int successor = eighth < 4 ? 0 : eighth < 6 ? 1 : eighth - 4;
      word = (7 * word + 13 + 29 * successor) % 100;
    }
    return ids;
  };
  Corpus corpus = {.num_ids = 101};
  for (int i = 0; i < 2400; ++i) corpus.train.push_back(sentence());
  for (int i = 0; i < 320; ++i) corpus.valid.push_back(sentence());
  return corpus;
}

// Returns batches of all sentences, in the ten buckets with the least padding. A bucket's last
// batch is filled up with rows of kPadding, which the loss and the metric ignore.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> Batches(
    const std::vector<std::vector<int>>& sentences) {
  return BucketSentenceIter::Create(
      sentences, kBatchSize,
      {.invalid_label = kPadding,
       .common = {.max_buckets = 10,
                  .last_batch = BucketSentenceIterOptions::LastBatch::kPad,
                  .seed = 1}});
}

// Returns the network for sentences of `key` words. It maps data (batch_size, key), the word ids,
// to probabilities (batch_size * key, num_ids) of the next words, which softmax_label holds.
absl::StatusOr<BucketSymbol> LanguageModel(const BucketKey& key, int64_t num_ids) {
  const Symbol words = op::Embedding(
      Symbol::Variable("data"), {.input_dim = num_ids, .output_dim = kNumHidden, .name = "embed"});
  SequentialRNNCell layers;
  for (int i = 0; i < kNumLayers; ++i) {
    const std::string prefix = absl::StrCat("lstm_l", i, "_");
    COOPER_RETURN_IF_ERROR(
        layers.Add(std::make_shared<LSTMCell>(kNumHidden, LSTMCellOptions{.prefix = prefix})));
  }
  const Symbol hidden =
      Unroll(layers, static_cast<int>(key.int_value()), words, {.merge_outputs = true})
          .outputs.merged();
  const Symbol rows = op::Reshape(hidden, {.shape = {-1, kNumHidden}});
  const Symbol scores = op::FullyConnected(rows, {.num_hidden = num_ids, .name = "pred"});
  const Symbol label = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}});
  return BucketSymbol{
      .symbol = op::SoftmaxOutput(
          scores,
          {.label = label, .ignore_label = kPadding, .use_ignore = true, .name = "softmax"})};
}

absl::Status Train(const Corpus& corpus) {
  COOPER_ASSIGN_OR_RETURN(const auto train, Batches(corpus.train));
  std::cout << train->report().ToString();
  std::unique_ptr<BucketSentenceIter> valid;
  if (!corpus.valid.empty()) {
    COOPER_ASSIGN_OR_RETURN(valid, Batches(corpus.valid));
  }
  const int64_t num_ids = corpus.num_ids;
  COOPER_ASSIGN_OR_RETURN(
      const auto model,
      BucketingModule::Create(
          {.sym_gen = [num_ids](const BucketKey& key) { return LanguageModel(key, num_ids); },
           .default_bucket_key = train->default_bucket_key()}));
  const auto perplexity = Perplexity({.ignore_label = kPadding});
  return model->Fit(*train,
                    {.eval_data = valid.get(),
                     .eval_metric = perplexity.get(),
                     .progress = [](const std::string& line) { std::cout << line << std::endl; },
                     .optimizer = {.optimizer = "adam",
                                   .optimizer_params = {{"learning_rate", 0.005}, {"wd", 1e-5}}},
                     .params = {.initializer = init::Xavier(
                                    {.factor_type = init::FactorType::kIn, .magnitude = 2.34})},
                     .seed = 1,
                     .num_epoch = kNumEpochs});
}

absl::Status Run(const std::vector<std::string>& paths) {
  if (paths.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at most two texts, got ", paths.size()));
  }
  if (paths.empty()) {
    std::cout << "generated sentences: no model has a perplexity below 3.36\n";
    return Train(GenerateCorpus());
  }
  COOPER_ASSIGN_OR_RETURN(const Corpus corpus,
                          ReadCorpus(paths[0], paths.size() == 2 ? paths[1] : ""));
  return Train(corpus);
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run({argv + 1, argv + argc});
  if (!status.ok()) std::cerr << "lstm_bucketing: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
