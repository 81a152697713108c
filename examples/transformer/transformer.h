#ifndef COOPER_EXAMPLES_TRANSFORMER_TRANSFORMER_H_
#define COOPER_EXAMPLES_TRANSFORMER_TRANSFORMER_H_

// A Transformer for sequences of any length in buckets: a causal language model, and a classifier
// of sequences from the same blocks.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/transformer/generated_data.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/callback/log_line.h"
#include "module/options/sym_gen.h"

namespace cooper {

enum class Positions {
  kLearned,     // a table with a row for each position, trained as the embedding is
  kSinusoidal,  // sines and cosines of the position, without parameters
};

// Sizes of the network.
struct TransformerOptions {
  int64_t num_ids = 0;      // rows of the embedding, including id 0, the padding
  int64_t width = 128;      // features of each position; even
  int64_t layers = 2;       // blocks of attention and feed-forward
  int64_t heads = 4;        // of the attention; divides width
  int64_t max_length = 60;  // the longest bucket, and the rows of the learned position table
  Positions positions = Positions::kLearned;
  double dropout = 0.1;  // of what each block adds; 0: none
};

struct TransformerTraining {
  int num_epoch = 10;
  int64_t batch_size = 32;
  double learning_rate = 0.002;
  double warmup = 0.1;  // the share of all updates in which the rate rises from 0
  uint64_t seed = 1;
  LogLine progress = LogInfo;
};

// kInvalidArgument, naming the option, for a value that is out of range.
absl::Status CheckOptions(const TransformerOptions& network, const TransformerTraining& training);

// Maps data (length, batch_size), the word ids, and length (batch_size,) to probabilities (length *
// batch_size, num_ids) of the next words, which softmax_label (length, batch_size) holds. A word's
// output depends on the word and those before it. kInvalidArgument for a key above max_length.
absl::StatusOr<BucketSymbol> TransformerLanguageModel(const BucketKey& key,
                                                      const TransformerOptions& options);

// Maps the same inputs to probabilities (batch_size, num_classes) of the sequences' classes. Each
// position attends to the whole sequence.
absl::StatusOr<BucketSymbol> TransformerClassifier(const BucketKey& key, int64_t num_classes,
                                                   const TransformerOptions& options);

// Returns batches in the eight buckets with the least padding, in layout TN. Sentences longer than
// `max_length` are split. A bucket's last batch is filled up with rows of padding.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> SentenceBatches(
    const std::vector<std::vector<int>>& sentences, int64_t max_length, int64_t batch_size,
    uint64_t seed);

// Returns batches in the five buckets with the least padding, in layout TN; the last batch of a
// bucket is smaller.
absl::StatusOr<std::unique_ptr<BucketIter>> SequenceBatches(const OrderedSequences& sequences,
                                                            int64_t batch_size, uint64_t seed);

// Trains with Adam and reports the perplexity, of corpus.valid too unless it is empty. num_ids
// comes from the corpus.
absl::StatusOr<std::unique_ptr<BucketingModule>> TrainLanguageModel(
    const Corpus& corpus, TransformerOptions network, const TransformerTraining& training);

// Trains in the same way and reports the accuracy, also that on `valid`.
absl::StatusOr<std::unique_ptr<BucketingModule>> TrainClassifier(
    const OrderedSequences& sequences, const OrderedSequences& valid, TransformerOptions network,
    const TransformerTraining& training);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_TRANSFORMER_TRANSFORMER_H_
