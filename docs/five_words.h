#ifndef COOPER_DOCS_FIVE_WORDS_H_
#define COOPER_DOCS_FIVE_WORDS_H_

// A bucketed model that is quick to train, and a text for it: the words 1 to 5, drawn at random,
// and 0 as padding.

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

// Predicts each word from the previous one only, without a recurrent layer; a sym_gen. "data" and
// "softmax_label" are (batch_size, length).
Symbol NextOfFive(const BucketKey& length);

// Returns 100 sentences of 2 to 12 words.
std::vector<std::vector<int>> SentencesOfFiveWords();

// Returns batches of 4 of these sentences, in buckets of 4, 8 and 12.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> FiveWords();

}  // namespace cooper

#endif  // COOPER_DOCS_FIVE_WORDS_H_
