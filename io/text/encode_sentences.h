#ifndef COOPER_IO_TEXT_ENCODE_SENTENCES_H_
#define COOPER_IO_TEXT_ENCODE_SENTENCES_H_

// Turns words into numbers: MXNet's mx.rnn.encode_sentences.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

using Sentence = std::vector<std::string>;
// The number of each word.
using Vocabulary = absl::flat_hash_map<std::string, int>;

struct EncodeSentencesOptions {
  // The number of padding: no word gets it.
  int invalid_label = -1;
  // The name under which a new vocabulary holds invalid_label.
  std::string invalid_key = "\n";
  // The first number of a new vocabulary.
  int start_label = 0;
  // Stands for every word that a given vocabulary lacks. Its number is that of the vocabulary; if
  // it has none it gets one, once, above all others. (MXNet gives it a new one for each word.)
  // Empty: unknown words are errors. A new vocabulary has no unknown words, but holds the token,
  // numbered first, for texts to come.
  std::string unknown_token;
};

struct EncodedSentences {
  std::vector<std::vector<int>> sentences;
  Vocabulary vocabulary;
};

// With a new vocabulary: words are numbered in order of appearance.
EncodedSentences EncodeSentences(absl::Span<const Sentence> sentences,
                                 const EncodeSentencesOptions& options = {});

// With a given vocabulary, which is returned, with unknown_token added if it was missing.
// kInvalidArgument, naming the word and its place, for an unknown word without an unknown_token;
// and for an unknown_token that is new where a word has the largest int.
absl::StatusOr<EncodedSentences> EncodeSentences(absl::Span<const Sentence> sentences,
                                                 const Vocabulary& vocabulary,
                                                 const EncodeSentencesOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_TEXT_ENCODE_SENTENCES_H_
