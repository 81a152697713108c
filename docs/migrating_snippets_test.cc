// The C++ of migrating.md: MXNet's example/rnn/bucketing/lstm_bucketing.py, and calls of its table.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/text/encode_sentences.h"
#include "module/bucketing/bucketing_module.h"
#include "module/callback/speedometer.h"
#include "module/checkpoint/do_checkpoint.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/all.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

// Does the script's sym_gen: layers of LSTM cells over the words of one bucket.
Symbol LstmBucketingSymbol(const BucketKey& key, int64_t vocab_size) {
  const int seq_len = static_cast<int>(key.int_value());
  const Symbol data = Symbol::Variable("data");
  const Symbol label = Symbol::Variable("softmax_label");
  const Symbol embed =
      op::Embedding(data, {.input_dim = vocab_size, .output_dim = 16, .name = "embed"});
  SequentialRNNCell stack;
  for (int i = 0; i < 2; ++i) {
    const std::string prefix = absl::StrCat("lstm_l", i, "_");
    stack.Add(std::make_shared<LSTMCell>(24, LSTMCellOptions{.prefix = prefix})).IgnoreError();
  }
  const Unrolled unrolled = Unroll(stack, seq_len, embed, {.merge_outputs = true});
  const Symbol rows = op::Reshape(unrolled.outputs.merged(), {.shape = {-1, 24}});
  const Symbol pred = op::FullyConnected(rows, {.num_hidden = vocab_size, .name = "pred"});
  return op::SoftmaxOutput(pred, {.label = op::Reshape(label, {.shape = {-1}}), .name = "softmax"});
}

// Does the script's main part. Sentences are lists of words.
absl::Status TrainAsMxnetDoes(const std::vector<Sentence>& sentences, const std::string& prefix) {
  SetDefaultSeed(42);  // mx.random.seed(42)
  const EncodedSentences coded =
      EncodeSentences(sentences, EncodeSentencesOptions{.invalid_label = 0, .start_label = 1});
  COOPER_ASSIGN_OR_RETURN(auto data,
                          BucketSentenceIter::Create(coded.sentences, /*batch_size=*/4,
                                                     {.buckets = {5, 10}, .invalid_label = 0}));
  const auto vocab_size = static_cast<int64_t>(coded.vocabulary.size());
  COOPER_ASSIGN_OR_RETURN(
      auto model,
      BucketingModule::Create(
          {.sym_gen = [=](const BucketKey& key) { return LstmBucketingSymbol(key, vocab_size); },
           .default_bucket_key = data->default_bucket_key()}));
  const auto perplexity = Perplexity({.ignore_label = 0});
  COOPER_RETURN_IF_ERROR(
      model->Fit(*data, {.eval_metric = perplexity.get(),
                         .epoch_end_callbacks = {DoCheckpoint(prefix)},
                         .batch_end_callbacks = {Speedometer({.frequent = 50})},
                         .optimizer = {.optimizer = "sgd",
                                       .optimizer_params = {{"learning_rate", 0.01},
                                                            {"momentum", 0.9},
                                                            {"wd", 1e-5}}},
                         .params = {.initializer = init::Xavier(
                                        {.factor_type = init::FactorType::kIn, .magnitude = 2.34})},
                         .num_epoch = 2}));
  COOPER_ASSIGN_OR_RETURN(const auto params, model->GetParams());
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> bias,
                          params.args.at("pred_bias").ToVector<float>());
  std::cout << bias.size() << " numbers\n";
  return absl::OkStatus();
}

TEST(MigratingPageTest, TheBucketingExampleTrains) {
  std::vector<Sentence> sentences;
  for (int i = 0; i < 24; ++i) {
    Sentence& sentence = sentences.emplace_back();
    for (int t = 0; t < 3 + i % 7; ++t) sentence.push_back(absl::StrCat("w", (i + t) % 6));
  }
  const std::string prefix = testing::TempDir() + "migrating";
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(TrainAsMxnetDoes(sentences, prefix));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "7 numbers\n");
  SetDefaultSeed(0);
  COOPER_EXPECT_OK(BucketingModule::Load(prefix, 2, {}));
}

}  // namespace
}  // namespace cooper
