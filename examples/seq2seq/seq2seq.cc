#include "examples/seq2seq/seq2seq.h"

#include <utility>

#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/random.h"
#include "ndarray/status_macros.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/gru_cell.h"

namespace cooper {
namespace {

constexpr int kBegin = 1, kEnd = 2, kFirstWord = 3, kNumWords = 20;
constexpr char kVocab[] = "23";

absl::StatusOr<Symbol> Embed(const char* name, const Symbol& words) {
  return Symbol::Create(
      "Embedding",
      {.name = name, .inputs = {words}, .attrs = {{"input_dim", kVocab}, {"output_dim", "24"}}});
}

absl::StatusOr<Symbol> Dense(const char* name, const Symbol& data, const char* num_hidden) {
  return Symbol::Create("FullyConnected",
                        {.name = name,
                         .inputs = {data},
                         .attrs = {{"num_hidden", num_hidden}, {"flatten", "False"}}});
}

// For each step of `decoder` (batch_size, targets, n) the mean of `encoder` (batch_size, sources,
// n), weighted by how well they agree; padding has no weight.
absl::StatusOr<Symbol> Attend(const Symbol& decoder, const Symbol& encoder,
                              const Symbol& encoder_length) {
  COOPER_ASSIGN_OR_RETURN(  // (batch_size, sources, targets)
      const Symbol scores, Symbol::Create("batch_dot", {.inputs = {encoder, decoder},
                                                        .attrs = {{"transpose_b", "True"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol masked,
      Symbol::Create(
          "SequenceMask",
          {.inputs = {scores, encoder_length},
           .attrs = {{"use_sequence_length", "True"}, {"axis", "1"}, {"value", "-1e9"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol weights,
      Symbol::Create("softmax", {.inputs = {masked}, .attrs = {{"axis", "1"}}}));
  return Symbol::Create("batch_dot",
                        {.inputs = {weights, encoder}, .attrs = {{"transpose_a", "True"}}});
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
       .buckets = {{4, 7}, {4, 10}, {7, 10}, {7, 14}, {9, 12}, {9, 20}},
       .last_batch = BucketIterOptions::LastBatch::kPad,
       .seed = 1});
}

absl::StatusOr<BucketSymbol> Seq2SeqNetwork(const BucketKey& key) {
  const Symbol source_length = Symbol::Variable("source_length");
  COOPER_ASSIGN_OR_RETURN(const Symbol sources, Embed("source_embed", Symbol::Variable("source")));
  BidirectionalCell encoder(std::make_shared<GRUCell>(24, GRUCellOptions{.prefix = "encoder_l_"}),
                            std::make_shared<GRUCell>(24, GRUCellOptions{.prefix = "encoder_r_"}));
  COOPER_ASSIGN_OR_RETURN(const Unrolled encoded,
                          encoder.Unroll(static_cast<int>(key.tuple_value()[0]), sources,
                                         {.merge_outputs = true, .valid_length = source_length}));

  COOPER_ASSIGN_OR_RETURN(const Symbol targets, Embed("target_embed", Symbol::Variable("target")));
  COOPER_ASSIGN_OR_RETURN(const Symbol state, Symbol::Create("Concat", {.inputs = encoded.states}));
  GRUCell decoder(48, {.prefix = "decoder_"});
  COOPER_ASSIGN_OR_RETURN(
      const Unrolled decoded,
      decoder.Unroll(static_cast<int>(key.tuple_value()[1]), targets,
                     {.begin_state = std::vector<Symbol>{state}, .merge_outputs = true}));

  const Symbol outputs = decoded.outputs.merged();
  COOPER_ASSIGN_OR_RETURN(const Symbol context,
                          Attend(outputs, encoded.outputs.merged(), source_length));
  COOPER_ASSIGN_OR_RETURN(const Symbol both, Symbol::Create("Concat", {.inputs = {outputs, context},
                                                                       .attrs = {{"dim", "2"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol hidden, Dense("hidden", both, "48"));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol active,
      Symbol::Create("Activation", {.inputs = {hidden}, .attrs = {{"act_type", "tanh"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol scores, Dense("scores", active, kVocab));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol softmax,
      Symbol::Create(
          "SoftmaxOutput",
          {.name = "softmax",
           .inputs = {scores},
           .attrs = {{"preserve_shape", "True"}, {"use_ignore", "True"}, {"ignore_label", "0"}}}));
  return BucketSymbol{.symbol = softmax, .data_names = {"source", "target", "source_length"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainSeq2Seq(const SentencePairs& pairs,
                                                              int num_epoch) {
  COOPER_ASSIGN_OR_RETURN(auto batches, PairBatches(pairs));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create({.sym_gen = Seq2SeqNetwork,
                                           .default_bucket_key = batches->default_bucket_key()}));
  const auto accuracy = Accuracy({.axis = 2, .ignore_label = 0});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *batches,
      {.eval_metric = accuracy.get(),
       .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", "0.01"}}},
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
