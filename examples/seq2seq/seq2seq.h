#ifndef COOPER_EXAMPLES_SEQ2SEQ_SEQ2SEQ_H_
#define COOPER_EXAMPLES_SEQ2SEQ_SEQ2SEQ_H_

// An encoder and a decoder with attention: buckets are pairs of lengths. On generated data.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct SentencePairs {
  std::vector<std::vector<int>> sources;  // words 3 ... 22
  std::vector<std::vector<int>> targets;  // 1, words, 2: begin and end
};

// `count` sentences of 2 to 9 words with their "translations": each word in the other language's
// numbers, the last one first, and every fifth word is two words there.
SentencePairs MakeSentencePairs(int64_t count, uint64_t seed);

// Batches whose keys are (source length, target length); the rest of a bucket is padded.
absl::StatusOr<std::unique_ptr<BucketIter>> PairBatches(const SentencePairs& pairs);

// source (batch_size, key[0]), source_length (batch_size,) and target (batch_size, key[1]) to
// probabilities (batch_size, key[1], words) of the word behind each word of the target.
BucketSymbol Seq2SeqNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainSeq2Seq(const SentencePairs& pairs,
                                                              int num_epoch);

// The share of the targets' words, ends included, that are right after the right words before.
absl::StatusOr<double> TokenAccuracy(BucketingModule& model, const SentencePairs& pairs);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SEQ2SEQ_SEQ2SEQ_H_
