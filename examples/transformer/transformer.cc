#include "examples/transformer/transformer.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/data_iter.h"
#include "module/initializer/initializers.h"
#include "module/lr_scheduler/decay_schedulers.h"
#include "module/metric/classification.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/reduce.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/over_time.h"

namespace cooper {
namespace {

constexpr int kPadding = 0;

// Returns the vectors of the positions of a bucket: (length, width).
Symbol PositionVectors(int64_t length, const TransformerOptions& o) {
  if (o.positions == Positions::kLearned) {
    // All buckets share the table, so its shape does not depend on the bucket.
    const Symbol table = Symbol::Variable("position_weight", {.shape = {o.max_length, o.width}});
    return op::slice_axis(table, {.axis = 0, .begin = 0, .end = length}) * std::sqrt(o.width);
  }
  const Symbol position = op::arange({.start = 0, .stop = length});
  const Symbol feature = op::arange({.start = 0, .stop = o.width / 2});
  const Symbol frequency = op::exp(feature * (-2 * std::log(10000.0) / o.width));
  const Symbol angle = op::broadcast_mul(op::expand_dims(position, {.axis = 1}),
                                         op::expand_dims(frequency, {.axis = 0}));
  return op::Concat({op::sin(angle), op::cos(angle)}, {.dim = 1});
}

// Returns how many keys each query may attend to, the first ones of its sequence: (batch_size *
// heads, length). Softmax leaves out the others, whether they come later or are padding.
Symbol VisibleKeys(const Symbol& valid_length, int64_t length, bool causal,
                   const TransformerOptions& o) {
  const Symbol keys =
      op::expand_dims(op::repeat(valid_length, {.repeats = o.heads, .axis = 0}), {.axis = 1});
  if (!causal) return op::broadcast_axis(keys, {.axis = {1}, .size = {length}});
  const Symbol until_query = op::arange({.start = 1, .stop = length + 1});
  return op::broadcast_minimum(keys, op::expand_dims(until_query, {.axis = 0}));
}

// Returns x after one block, which normalizes the inputs of its attention and of its feed-forward
// layers (pre-norm). Names of parameters begin with `prefix`.
Symbol Block(const Symbol& x, const Symbol& visible_keys, const std::string& prefix,
             const TransformerOptions& o) {
  const auto norm = [&](const Symbol& data, const char* name) {
    return op::LayerNorm(data, {.name = prefix + name});
  };
  const auto dense = [&](const Symbol& data, int64_t num_hidden, const char* name) {
    return op::FullyConnected(data,
                              {.num_hidden = num_hidden, .flatten = false, .name = prefix + name});
  };
  const auto dropout = [&](const Symbol& data) {
    return o.dropout > 0 ? op::Dropout(data, {.p = o.dropout}) : data;
  };
  const Symbol qkv = dense(norm(x, "norm1"), 3 * o.width, "qkv");
  const Symbol scores = op::contrib::interleaved_matmul_selfatt_qk(qkv, {.heads = o.heads});
  const Symbol attention = op::softmax(scores, {.length = visible_keys, .use_length = true});
  const Symbol values =
      op::contrib::interleaved_matmul_selfatt_valatt(qkv, attention, {.heads = o.heads});
  const Symbol attended = x + dropout(dense(values, o.width, "proj"));
  const Symbol hidden =
      op::LeakyReLU(dense(norm(attended, "norm2"), 4 * o.width, "ff1"), {.act_type = "gelu"});
  return attended + dropout(dense(hidden, o.width, "ff2"));
}

// Returns the normalized output of the last block: (length, batch_size, width).
absl::StatusOr<Symbol> Blocks(const BucketKey& key, const Symbol& valid_length, bool causal,
                              const TransformerOptions& o) {
  const int64_t length = key.int_value();
  if (length > o.max_length) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the bucket has ", length, " positions, expected at most max_length = ", o.max_length));
  }
  const Symbol words = op::Embedding(
      Symbol::Variable("data"), {.input_dim = o.num_ids, .output_dim = o.width, .name = "embed"});
  // The factor gives words elements of about the same size as positions.
  Symbol x = op::broadcast_add(words * std::sqrt(o.width),
                               op::expand_dims(PositionVectors(length, o), {.axis = 1}));
  const Symbol visible_keys = VisibleKeys(valid_length, length, causal, o);
  for (int64_t i = 0; i < o.layers; ++i) x = Block(x, visible_keys, absl::StrCat("l", i, "_"), o);
  return op::LayerNorm(x, {.name = "norm"});
}

// Fits with Adam, whose rate rises linearly during the warm-up and then falls linearly to 0.
absl::Status Fit(BucketingModule& model, DataIter& train, int64_t num_batches, DataIter* valid,
                 EvalMetric& metric, GradientNormalization normalization,
                 const TransformerTraining& t) {
  const int64_t updates = t.num_epoch * num_batches;
  PolySchedulerOptions rate = {.max_update = updates, .pwr = 1};
  rate.common.base_lr = t.learning_rate;
  rate.common.warmup_steps = static_cast<int64_t>(t.warmup * static_cast<double>(updates));
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<LRScheduler> schedule, PolyScheduler::Create(rate));
  return model.Fit(train,
                   {.eval_data = valid,
                    .eval_metric = &metric,
                    .progress = t.progress,
                    .optimizer = {.optimizer = "adam",
                                  .lr_scheduler = schedule,
                                  .clip_global_norm = 1,
                                  .normalization = normalization},
                    .params = {.initializer = init::Xavier({.factor_type = init::FactorType::kIn})},
                    .seed = t.seed,
                    .num_epoch = t.num_epoch});
}

}  // namespace

absl::Status CheckOptions(const TransformerOptions& network, const TransformerTraining& training) {
  const auto error = [](const char* option, auto value, const auto&... expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " = ", value, ": expected ", expected...));
  };
  const std::pair<const char*, int64_t> counts[] = {
      {"width", network.width},       {"layers", network.layers},
      {"heads", network.heads},       {"max_length", network.max_length},
      {"epochs", training.num_epoch}, {"batch_size", training.batch_size}};
  for (const auto& [name, value] : counts) {
    if (value < 1) return error(name, value, "a positive number");
  }
  if (network.width % 2 != 0) return error("width", network.width, "an even number");
  if (network.width % network.heads != 0) {
    return error("heads", network.heads, "a divisor of width = ", network.width);
  }
  if (!(network.dropout >= 0 && network.dropout < 1)) {
    return error("dropout", network.dropout, "a number in [0, 1)");
  }
  if (!(training.learning_rate > 0) || !std::isfinite(training.learning_rate)) {
    return error("learning_rate", training.learning_rate, "a finite number above 0");
  }
  if (!(training.warmup >= 0 && training.warmup < 1)) {
    return error("warmup", training.warmup, "a share of the updates in [0, 1)");
  }
  return absl::OkStatus();
}

absl::StatusOr<BucketSymbol> TransformerLanguageModel(const BucketKey& key,
                                                      const TransformerOptions& options) {
  const Symbol valid_length = Symbol::Variable("length");
  COOPER_ASSIGN_OR_RETURN(const Symbol hidden, Blocks(key, valid_length, /*causal=*/true, options));
  const Symbol rows = op::Reshape(hidden, {.shape = {-1, options.width}});
  const Symbol scores = op::FullyConnected(rows, {.num_hidden = options.num_ids, .name = "pred"});
  const Symbol label = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}});
  return BucketSymbol{
      .symbol = op::SoftmaxOutput(
          scores,
          {.label = label, .ignore_label = kPadding, .use_ignore = true, .name = "softmax"}),
      .data_names = {"data", "length"}};
}

absl::StatusOr<BucketSymbol> TransformerClassifier(const BucketKey& key, int64_t num_classes,
                                                   const TransformerOptions& options) {
  const Symbol valid_length = Symbol::Variable("length");
  COOPER_ASSIGN_OR_RETURN(const Symbol hidden,
                          Blocks(key, valid_length, /*causal=*/false, options));
  const Symbol mean = MeanOverTime(hidden, valid_length, {.layout = "TNC"});
  const Symbol scores = op::FullyConnected(mean, {.num_hidden = num_classes, .name = "classes"});
  return BucketSymbol{.symbol = op::SoftmaxOutput(scores, {.name = "softmax"}),
                      .data_names = {"data", "length"}};
}

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> SentenceBatches(
    const std::vector<std::vector<int>>& sentences, int64_t max_length, int64_t batch_size,
    uint64_t seed) {
  return BucketSentenceIter::Create(
      sentences, batch_size,
      {.invalid_label = kPadding,
       .layout = "TN",
       .max_length = max_length,
       .too_long = BucketSentenceIterOptions::TooLong::kSplit,
       .length_name = "length",
       .common = {.max_buckets = 8,
                  .last_batch = BucketSentenceIterOptions::LastBatch::kPad,
                  .seed = seed}});
}

absl::StatusOr<std::unique_ptr<BucketIter>> SequenceBatches(const OrderedSequences& sequences,
                                                            int64_t batch_size, uint64_t seed) {
  return BucketIter::Create(
      {{.name = "data", .values = sequences.words, .layout = "TN", .length_name = "length"}},
      {{.name = "softmax_label", .values = sequences.classes}},
      {.batch_size = batch_size,
       .common = {
           .max_buckets = 5, .last_batch = BucketIterOptions::LastBatch::kSmaller, .seed = seed}});
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainLanguageModel(
    const Corpus& corpus, TransformerOptions network, const TransformerTraining& training) {
  COOPER_RETURN_IF_ERROR(CheckOptions(network, training));
  const auto batches = [&](const std::vector<std::vector<int>>& sentences) {
    return SentenceBatches(sentences, network.max_length, training.batch_size, training.seed);
  };
  COOPER_ASSIGN_OR_RETURN(const auto train, batches(corpus.train));
  std::unique_ptr<BucketSentenceIter> valid;
  if (!corpus.valid.empty()) {
    COOPER_ASSIGN_OR_RETURN(valid, batches(corpus.valid));
  }
  network.num_ids = corpus.num_ids;
  const auto sym_gen = [network](const BucketKey& key) {
    return TransformerLanguageModel(key, network);
  };
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = sym_gen, .default_bucket_key = train->default_bucket_key()}));
  const auto perplexity = Perplexity({.ignore_label = kPadding});
  COOPER_RETURN_IF_ERROR(Fit(*model, *train, train->num_batches(), valid.get(), *perplexity,
                             GradientNormalization::kTokens, training));
  return model;
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainClassifier(
    const OrderedSequences& sequences, const OrderedSequences& valid, TransformerOptions network,
    const TransformerTraining& training) {
  COOPER_RETURN_IF_ERROR(CheckOptions(network, training));
  const auto batches = [&](const OrderedSequences& s) {
    return SequenceBatches(s, training.batch_size, training.seed);
  };
  COOPER_ASSIGN_OR_RETURN(const auto train, batches(sequences));
  COOPER_ASSIGN_OR_RETURN(const auto eval, batches(valid));
  network.num_ids = OrderedSequences::kIds;
  const auto sym_gen = [network](const BucketKey& key) {
    return TransformerClassifier(key, OrderedSequences::kClasses, network);
  };
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = sym_gen, .default_bucket_key = train->default_bucket_key()}));
  const auto accuracy = Accuracy({});
  COOPER_RETURN_IF_ERROR(Fit(*model, *train, train->num_batches(), eval.get(), *accuracy,
                             GradientNormalization::kSamples, training));
  return model;
}

}  // namespace cooper
