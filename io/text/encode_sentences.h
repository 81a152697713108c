#ifndef COOPER_IO_TEXT_ENCODE_SENTENCES_H_
#define COOPER_IO_TEXT_ENCODE_SENTENCES_H_

// Converts words to ids, as MXNet's mx.rnn.encode_sentences.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

using Sentence = std::vector<std::string>;
// The ids of words.
using Vocabulary = absl::flat_hash_map<std::string, int>;

// Options of EncodeSentences. Those of a new vocabulary have no effect if one is given.
struct EncodeSentencesOptions {
  // The id of padding, which no word gets.
  int invalid_label = -1;
  // The key of invalid_label in a new vocabulary.
  std::string invalid_key = "\n";
  // The first id of a new vocabulary.
  int start_label = 0;
  // Replaces every word that a given vocabulary lacks. It has its id in the vocabulary, or a new
  // one above all others. (MXNet assigns a new id for each unknown word.) If empty, unknown words
  // are errors. A new vocabulary has no unknown words, but contains the token, with the first id,
  // for later texts.
  std::string unknown_token;
};

// The words' ids, sentence by sentence, and the vocabulary: the given one, or a new one with an id
// for each word in the order of its first occurrence.
struct EncodedSentences {
  std::vector<std::vector<int>> sentences;
  Vocabulary vocabulary;
};

// Encodes with a new vocabulary: words get ids in order of appearance.
EncodedSentences EncodeSentences(absl::Span<const Sentence> sentences,
                                 const EncodeSentencesOptions& options = {});

// Encodes with a given vocabulary, and returns it with unknown_token added if it was missing.
// kInvalidArgument, naming the word and its position, for an unknown word without an unknown_token;
// and if unknown_token needs a new id but a word has the largest int.
absl::StatusOr<EncodedSentences> EncodeSentences(absl::Span<const Sentence> sentences,
                                                 const Vocabulary& vocabulary,
                                                 const EncodeSentencesOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_TEXT_ENCODE_SENTENCES_H_
