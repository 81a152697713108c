#ifndef COOPER_EXAMPLES_LM_CORPUS_H_
#define COOPER_EXAMPLES_LM_CORPUS_H_

// Sentences as numbers, for language models: read from texts, or generated with a known entropy.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/text/encode_sentences.h"

namespace cooper {

struct LmCorpus {
  std::vector<std::vector<int>> train;
  std::vector<std::vector<int>> valid;  // may be empty
  int64_t vocab = 0;                    // ids are 1 ... vocab - 1; 0 is the padding
  Vocabulary vocabulary;                // the words behind the ids; empty for a generated corpus
  // The least perplexity that any model can have on such sentences, where it is known.
  std::optional<double> perplexity_floor;
};

// Texts with a sentence on each line and spaces between the words. Words are numbered by the
// training text; all words of `valid_path` (which may be empty) that it lacks share one number.
// Only the first `max_sentences` of the training text are read, all of them if it is negative. If
// `max_words` is positive, only its so many most frequent words have numbers of their own, of
// equally frequent ones those that come first; all others share the one of unknown words.
// kNotFound if a file is missing, kInvalidArgument if one has no sentence.
absl::StatusOr<LmCorpus> ReadLmCorpus(const std::string& train_path, const std::string& valid_path,
                                      int64_t max_sentences = -1, int64_t max_words = 0);

// Sentences of a Markov chain over `words` words: each word is followed by one of four of its own,
// with probabilities 1/2, 1/4, 1/8 and 1/8, so that the entropy of the next word is 1.75 bits and
// the perplexity of a perfect model 2^1.75 = 3.36. Lengths are uniform in [5, 60]. Equal arguments
// give equal sentences. Requires words >= 4.
LmCorpus MakeSyntheticCorpus(int64_t words, int64_t train_sentences, int64_t valid_sentences,
                             uint64_t seed);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_LM_CORPUS_H_
