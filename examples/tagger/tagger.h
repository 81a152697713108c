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

// `count` sentences of 1 to 15 words. A word's tag says whether the word before it, and whether the
// one behind it, is an even one: neither direction alone can know.
TaggedSentences MakeTaggedSentences(int64_t count, uint64_t seed);

// Batches of sentences in the three buckets that leave these sentences the least padding; the last
// batch of a bucket is smaller. So no sentence is too long.
absl::StatusOr<std::unique_ptr<BucketIter>> TaggerBatches(const TaggedSentences& sentences,
                                                          uint64_t seed);

// data (batch_size, words) and length (batch_size,) to probabilities (batch_size, words, tags).
BucketSymbol TaggerNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainTagger(const TaggedSentences& sentences,
                                                             int num_epoch);

// The tags of each sentence, in the order of `sentences`, whose own tags are not looked at.
absl::StatusOr<std::vector<std::vector<int>>> TagSentences(BucketingModule& model,
                                                           const TaggedSentences& sentences);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_TAGGER_TAGGER_H_
