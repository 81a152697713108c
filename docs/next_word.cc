// The programs of README.md, as they stand there: check_snippets.sh compares them,
// next_word_test.sh runs this one and compares the BUILD block.

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/callback/speedometer.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"
#include "symbol/op/all.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {

// Returns the network for sentences of `key` words: each word predicts the next one.
Symbol NextWord(const BucketKey& key) {
  const int length = static_cast<int>(key.int_value());
  const Symbol data = Symbol::Variable("data");            // (batch_size, length)
  const Symbol label = Symbol::Variable("softmax_label");  // (batch_size, length)
  const Symbol embed = op::Embedding(data, {.input_dim = 11, .output_dim = 16, .name = "embed"});
  LSTMCell cell(32, {.prefix = "lstm_"});
  const Unrolled unrolled = Unroll(cell, length, embed, {.merge_outputs = true});
  const Symbol rows = op::Reshape(unrolled.outputs.merged(), {.shape = {-1, 32}});
  const Symbol pred = op::FullyConnected(rows, {.num_hidden = 11, .name = "pred"});
  return op::SoftmaxOutput(pred, {.label = op::Reshape(label, {.shape = {-1}}),
                                  .ignore_label = 0,
                                  .use_ignore = true,
                                  .name = "softmax"});
}

// Trains the network and writes PREFIX-0010.params with the symbols of its buckets.
absl::Status Train(const std::string& prefix) {
  // Word ids begin at 1; 0 is the padding. The sentences are 1 2 ... 10 1 2 ..., from any word on.
  std::vector<std::vector<int>> sentences;
  for (int i = 0; i < 64; ++i) {
    sentences.emplace_back();
    for (int t = 0; t < (i % 2 == 0 ? 9 : 17); ++t) sentences.back().push_back(1 + (i + t) % 10);
  }
  COOPER_ASSIGN_OR_RETURN(auto data,
                          BucketSentenceIter::Create(sentences, /*batch_size=*/8,
                                                     {.buckets = {10, 20}, .invalid_label = 0}));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = NextWord, .default_bucket_key = data->default_bucket_key()}));
  const auto perplexity = Perplexity({.ignore_label = 0});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *data, {.eval_metric = perplexity.get(),
              .batch_end_callbacks = {Speedometer({.frequent = 4})},
              .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.02}}},
              .params = {.initializer = init::Xavier()},
              .num_epoch = 10}));
  COOPER_ASSIGN_OR_RETURN(const auto scores, model->Score(*data, *perplexity));
  std::cout << scores[0].first << " " << scores[0].second << "\n";
  return model->SaveCheckpoint(prefix, 10);
}

}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Train(argc > 1 ? argv[1] : "/tmp/next_word");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
