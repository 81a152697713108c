#ifndef COOPER_EXAMPLES_TAGGER_TAGGER_H_
#define COOPER_EXAMPLES_TAGGER_TAGGER_H_

// Tags every word of sentences of any length with a bidirectional network, on generated data.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct TaggedSentences {
  std::vector<std::vector<int>> words;  // 1 ... 20; 0 is the padding
  std::vector<std::vector<int>> tags;   // 0 ... 3
};

// Returns `count` sentences of 1 to 15 words. A word's tag encodes whether the previous word's id
// is even and whether the next one's is, so that one direction alone cannot predict it.
TaggedSentences MakeTaggedSentences(int64_t count, uint64_t seed);

// Returns batches of sentences in the three buckets with the least padding; the last batch of a
// bucket is smaller. No sentence is too long.
absl::StatusOr<std::unique_ptr<BucketIter>> TaggerBatches(const TaggedSentences& sentences,
                                                          uint64_t seed);

// Maps data (batch_size, words) and length (batch_size,) to probabilities (batch_size, words,
// tags).
BucketSymbol TaggerNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainTagger(const TaggedSentences& sentences,
                                                             int num_epoch);

// Returns the predicted tags of each sentence, in the order of `sentences`; does not use
// sentences.tags.
absl::StatusOr<std::vector<std::vector<int>>> TagSentences(BucketingModule& model,
                                                           const TaggedSentences& sentences);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_TAGGER_TAGGER_H_
