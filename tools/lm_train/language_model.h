#ifndef COOPER_TOOLS_LM_TRAIN_LANGUAGE_MODEL_H_
#define COOPER_TOOLS_LM_TRAIN_LANGUAGE_MODEL_H_

// The network of the bucketing tutorial: embedding, stacked recurrent layers unrolled over the
// bucket's length, a projection onto the vocabulary, and the cross entropy of the next word.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializer.h"

namespace cooper {

struct LanguageModelOptions {
  int64_t vocab = 0;  // ids are 0 ... vocab - 1; 0 is the padding
  int64_t num_embed = 200;
  int64_t num_hidden = 200;
  int num_layers = 2;
  // "lstm", "gru", "rnn": unrolled cells; "foreach": LSTM cells in a loop; "fused", "fused_gru",
  // "fused_rnn": the RNN operator with layers of LSTM, GRU or plain cells.
  std::string cell = "lstm";
  // Each layer runs in both directions and has 2 * num_hidden outputs. For tagging and for timing:
  // if the label is the next word, such a model sees the answer.
  bool bidirectional = false;
  // Positions with label 0 add nothing to the gradient.
  bool use_ignore = false;
  // The network has another data array `length` (batch_size,): the number of words of each
  // sentence. Layers then skip padding and the last word, which has no label; with `bidirectional`
  // they skip padding only, and the second direction begins at the last word.
  bool use_lengths = false;
};

// Returns a generator of symbols over data and softmax_label (batch_size, bucket key), whose one
// output is the probabilities (batch_size * bucket key, vocab). The cells, and so the names of
// parameters, are the same for all keys. kInvalidArgument for an unknown cell, for a size below 1,
// and for "foreach" with `bidirectional` or `use_lengths`.
absl::StatusOr<SymGen> MakeLanguageModel(const LanguageModelOptions& options);

// Returns the tutorial's initializer: Xavier with factor_type in and magnitude 2.34.
std::shared_ptr<const Initializer> LanguageModelInitializer();

struct LmStepCostOptions {
  SymGen sym_gen;            // returned by MakeLanguageModel
  bool use_lengths = false;  // the value in the options of sym_gen
  std::set<std::string> disabled_passes;
  bool label_probabilities = false;
  int64_t batch_size = 1;
  int64_t longest = 2;  // maximum length of a bucket, in words
};

// Returns the cost of a sentence in a bucket, for the step_cost of iterators that choose their
// buckets: the floating-point operations of a training step by the length of its bucket, in words,
// scaled such that a sentence in the longest bucket costs `longest`, as it does without a
// step_cost. Compiles the network for at most nine lengths and interpolates linearly.
// kInvalidArgument if longest or batch_size is too small; also the errors of BucketPlan.
absl::StatusOr<std::function<double(int64_t length)>> LmStepCost(LmStepCostOptions options);

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_LANGUAGE_MODEL_H_
