#ifndef COOPER_TOOLS_LM_TRAIN_LM_CORPUS_H_
#define COOPER_TOOLS_LM_TRAIN_LM_CORPUS_H_

// Provides sentences as word ids for language models, read from texts or generated with known
// entropy.

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
  // The minimum perplexity of any model on such sentences, where it is known.
  std::optional<double> perplexity_floor;
};

// Reads texts with one sentence per line and spaces between words. Ids come from the training text;
// all words of `valid_path` (which may be empty) that it lacks share one id. Reads only the first
// `max_sentences` of the training text, or all if that is negative. If `max_words` is positive,
// only that many of the most frequent words (ties: the earlier ones) get ids of their own; all
// others share that of unknown words. Errors: kNotFound if a file is missing, kInvalidArgument if
// one has no sentence.
absl::StatusOr<LmCorpus> ReadLmCorpus(const std::string& train_path, const std::string& valid_path,
                                      int64_t max_sentences = -1, int64_t max_words = 0);

// Returns sentences of a Markov chain over `words` words: each word is followed by one of four
// words of its own, with probabilities 1/2, 1/4, 1/8 and 1/8, so that the entropy of the next word
// is 1.75 bits and the minimum perplexity 2^1.75 = 3.36. Lengths are uniform in [5, 60]. Equal
// arguments give equal sentences. Requires words >= 4.
LmCorpus MakeSyntheticCorpus(int64_t words, int64_t train_sentences, int64_t valid_sentences,
                             uint64_t seed);

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_LM_CORPUS_H_
