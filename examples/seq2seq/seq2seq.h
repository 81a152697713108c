#ifndef COOPER_EXAMPLES_SEQ2SEQ_SEQ2SEQ_H_
#define COOPER_EXAMPLES_SEQ2SEQ_SEQ2SEQ_H_

// An encoder and a decoder with attention on generated data; bucket keys are pairs of lengths.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct SentencePairs {
  std::vector<std::vector<int>> sources;  // word ids 3 ... 22
  std::vector<std::vector<int>> targets;  // 1, words, 2: 1 begins and 2 ends a sentence
};

// Returns `count` sentences of 2 to 9 words with "translations": the words in reverse order with
// other ids, where every fifth word becomes two words.
SentencePairs MakeSentencePairs(int64_t count, uint64_t seed);

// Returns batches whose keys are (source length, target length); a bucket's last batch is padded.
absl::StatusOr<std::unique_ptr<BucketIter>> PairBatches(const SentencePairs& pairs);

// Maps source (batch_size, key[0]), source_length (batch_size,) and target (batch_size, key[1]) to
// the probabilities (batch_size, key[1], words) of the word after each word of the target.
BucketSymbol Seq2SeqNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainSeq2Seq(const SentencePairs& pairs,
                                                              int num_epoch);

// Returns the fraction of the targets' words, end tokens included, that are predicted correctly
// from the correct previous words.
absl::StatusOr<double> TokenAccuracy(BucketingModule& model, const SentencePairs& pairs);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SEQ2SEQ_SEQ2SEQ_H_
