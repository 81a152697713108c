#ifndef COOPER_EXAMPLES_TRANSFORMER_GENERATED_DATA_H_
#define COOPER_EXAMPLES_TRANSFORMER_GENERATED_DATA_H_

// Generates data that cannot be predicted from single words: sentences whose first word matters to
// the end, and sequences whose class is an order.

#include <cstdint>
#include <vector>

namespace cooper {

// Sentences of word ids.
struct Corpus {
  std::vector<std::vector<int>> train;
  std::vector<std::vector<int>> valid;  // may be empty
  int64_t num_ids = 0;                  // ids are 1 ... num_ids - 1; 0 is the padding
};

// Returns sentences of 5 to 60 words. The first word names one of four tables, by which each word
// is followed by one of four words with probabilities 1/2, 1/4, 1/8 and 1/8: 1.75 bits, so that the
// perplexity of no model is below 2^1.75 = 3.36. Without the first word a word has 16 successors:
// the perplexity of no model of pairs of words is below 2^3.75 = 13.45.
Corpus MakeTopicCorpus(int64_t train_sentences, int64_t valid_sentences, uint64_t seed);

// Sequences that contain the same three words, in an order that is the class.
struct OrderedSequences {
  static constexpr int64_t kIds = 24;
  static constexpr int64_t kClasses = 6;
  std::vector<std::vector<int>> words;  // 1 ... 23; each sequence has 1, 2 and 3 once
  std::vector<int> classes;             // 0 ... 5, the order of 1, 2 and 3
};

// Returns `count` sequences of 6 to 40 words. How often which word occurs says nothing of the
// class.
OrderedSequences MakeOrderedSequences(int64_t count, uint64_t seed);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_TRANSFORMER_GENERATED_DATA_H_
