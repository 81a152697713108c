#ifndef COOPER_BENCHMARKS_LM_EPOCHS_H_
#define COOPER_BENCHMARKS_LM_EPOCHS_H_

// Runs whole epochs over a text: reading, word ids, batches, training and perplexity
// (benchmarks/peers/README.md, "Epochs over a text").

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct LmEpochsOptions {
  std::string train_path;
  std::string valid_path;        // may be empty
  int64_t max_sentences = -1;    // of the training text; negative: all
  std::vector<int64_t> buckets;  // if empty, the three below choose them
  int max_buckets = 0;
  double bucket_cost = 0;
  int64_t max_length = 0;
  int64_t batch_size = 32;
  uint64_t seed = 1;  // determines the order of the batches
};

struct EpochTimes {
  double seconds = 0;        // without the validation
  double input_seconds = 0;  // part of `seconds`: reading, assigning ids and creating batches
  int64_t tokens = 0;        // labels that are words
  int64_t padded_tokens = 0;
  std::vector<double> perplexity;        // of the training, by epoch
  std::vector<double> valid_perplexity;  // after each; empty without a validation text
};

class LmEpochs {
 public:
  // Reads the texts to determine the sizes of the model. kInvalidArgument if no bucket fills a
  // batch.
  static absl::StatusOr<std::unique_ptr<LmEpochs>> Create(LmEpochsOptions options);

  int64_t vocab() const { return vocab_; }
  // Returns the buckets that have batches, rising.
  const std::vector<int64_t>& buckets() const { return buckets_; }

  // Reads the training text again and trains `epochs` times on it. `model` must be bound for all
  // buckets and have an optimizer.
  absl::StatusOr<EpochTimes> Run(BucketingModule& model, int epochs);

 private:
  explicit LmEpochs(LmEpochsOptions options) : options_(std::move(options)) {}
  absl::StatusOr<std::unique_ptr<BucketSentenceIter>> MakeIter(
      const std::vector<std::vector<int>>& sentences) const;
  static absl::StatusOr<double> TrainEpoch(BucketingModule& model, BucketSentenceIter& iter,
                                           EpochTimes* times);

  LmEpochsOptions options_;
  int64_t vocab_ = 0;
  std::vector<int64_t> buckets_;
  std::unique_ptr<BucketSentenceIter> valid_;  // null without a validation text
};

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_LM_EPOCHS_H_
