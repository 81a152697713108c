#include "examples/seq2seq/seq2seq.h"

#include <utility>

#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/index.h"
#include "symbol/op/linalg.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

constexpr int kBegin = 1, kEnd = 2, kFirstWord = 3, kNumWords = 20;
constexpr int kVocab = kFirstWord + kNumWords;

Symbol Embed(const char* name, const Symbol& words) {
  return op::Embedding(words, {.input_dim = kVocab, .output_dim = 24, .name = name});
}

// Returns for each step of `decoder` (batch_size, targets, n) the mean of `encoder` (batch_size,
// sources, n), weighted by the softmax of their products; padding has no weight.
Symbol Attend(const Symbol& decoder, const Symbol& encoder, const Symbol& encoder_length) {
  // (batch_size, sources, targets)
  const Symbol scores = op::batch_dot(encoder, decoder, {.transpose_b = true});
  const Symbol masked = op::SequenceMask(
      scores,
      {.sequence_length = encoder_length, .use_sequence_length = true, .axis = 1, .value = -1e9});
  return op::batch_dot(op::softmax(masked, {.axis = 1}), encoder, {.transpose_a = true});
}

}  // namespace

SentencePairs MakeSentencePairs(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  SentencePairs pairs;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int> source(2 + random.NextBelow(8)), target = {kBegin};
    for (int& word : source) word = static_cast<int>(kFirstWord + random.NextBelow(kNumWords));
    for (auto word = source.rbegin(); word != source.rend(); ++word) {
      const int number = *word - kFirstWord;
      target.push_back(kFirstWord + (number * 7 + 3) % kNumWords);
      if (number % 5 == 0) target.push_back(kFirstWord + (number + 1) % kNumWords);
    }
    target.push_back(kEnd);
    pairs.sources.push_back(std::move(source));
    pairs.targets.push_back(std::move(target));
  }
  return pairs;
}

absl::StatusOr<std::unique_ptr<BucketIter>> PairBatches(const SentencePairs& pairs) {
  return BucketIter::Create(
      {{.name = "source", .values = pairs.sources, .length_name = "source_length"},
       {.name = "target", .values = pairs.targets, .pad_to = {1}}},
      {{.name = "softmax_label", .values = pairs.targets, .pad_to = {1}, .shift = 1}},
      {.batch_size = 32,
       .common = {.max_buckets = 6, .last_batch = BucketIterOptions::LastBatch::kPad, .seed = 1}});
}

BucketSymbol Seq2SeqNetwork(const BucketKey& key) {
  const Symbol source_length = Symbol::Variable("source_length");
  BidirectionalCell encoder(std::make_shared<GRUCell>(24, GRUCellOptions{.prefix = "encoder_l_"}),
                            std::make_shared<GRUCell>(24, GRUCellOptions{.prefix = "encoder_r_"}));
  const Unrolled encoded = Unroll(encoder, static_cast<int>(key.tuple_value()[0]),
                                  Embed("source_embed", Symbol::Variable("source")),
                                  {.merge_outputs = true, .valid_length = source_length});
  GRUCell decoder(48, {.prefix = "decoder_"});
  const Symbol decoded = Unroll(decoder, static_cast<int>(key.tuple_value()[1]),
                                Embed("target_embed", Symbol::Variable("target")),
                                {.begin_state = std::vector<Symbol>{op::Concat(encoded.states)},
                                 .merge_outputs = true})
                             .outputs.merged();

  const Symbol context = Attend(decoded, encoded.outputs.merged(), source_length);
  const Symbol hidden = op::FullyConnected(op::Concat({decoded, context}, {.dim = 2}),
                                           {.num_hidden = 48, .flatten = false, .name = "hidden"});
  const Symbol scores =
      op::FullyConnected(op::Activation(hidden, {.act_type = "tanh"}),
                         {.num_hidden = kVocab, .flatten = false, .name = "scores"});
  return {.symbol = op::SoftmaxOutput(
              scores,
              {.ignore_label = 0, .use_ignore = true, .preserve_shape = true, .name = "softmax"}),
          .data_names = {"source", "target", "source_length"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainSeq2Seq(const SentencePairs& pairs,
                                                              int num_epoch) {
  COOPER_ASSIGN_OR_RETURN(auto batches, PairBatches(pairs));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create({.sym_gen = Seq2SeqNetwork,
                                           .default_bucket_key = batches->default_bucket_key()}));
  const auto accuracy = Accuracy({.axis = 2, .ignore_label = 0});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *batches, {.eval_metric = accuracy.get(),
                 .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.01}}},
                 .params = {.initializer = init::Xavier(), .seed = 1},
                 .num_epoch = num_epoch}));
  return model;
}

absl::StatusOr<double> TokenAccuracy(BucketingModule& model, const SentencePairs& pairs) {
  COOPER_ASSIGN_OR_RETURN(auto batches, PairBatches(pairs));
  const auto accuracy = Accuracy({.axis = 2, .ignore_label = 0});
  COOPER_ASSIGN_OR_RETURN(const auto scores, model.Score(*batches, *accuracy));
  return scores[0].second;
}

}  // namespace cooper
