#ifndef COOPER_IO_TEXT_TEXT_CORPUS_H_
#define COOPER_IO_TEXT_TEXT_CORPUS_H_

// Reads texts with one sentence per line and spaces between words, and builds vocabularies.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/text/encode_sentences.h"

namespace cooper {

// Options of ReadSentences, which holds the whole text in memory.
struct ReadSentencesOptions {
  // Appended to each sentence, such as "<eos>". Empty: nothing is appended.
  std::string end_token;
  int64_t max_sentences = -1;  // negative: all
};

// Returns the words of each line, without a byte order mark; lines without words are skipped.
// Errors are those of ReadFile (ndarray/base/atomic_file.h): kNotFound, with the path, if there is
// no such file.
absl::StatusOr<std::vector<Sentence>> ReadSentences(const std::string& path,
                                                    const ReadSentencesOptions& options = {});

// Options of BuildVocabulary. Ids rise by one from start_label; the id invalid_label, with the key
// invalid_key, is left out.
struct BuildVocabularyOptions {
  int invalid_label = -1;
  std::string invalid_key = "\n";
  int start_label = 0;
  std::string unknown_token;  // gets the first id; empty: none
  int64_t min_count = 1;      // rarer words are left out
  int64_t max_words = -1;     // only the most frequent words; negative: all
};

// Assigns ids by falling frequency; words of equal frequency in alphabetical order.
Vocabulary BuildVocabulary(absl::Span<const Sentence> sentences,
                           const BuildVocabularyOptions& options = {});

// Does the same for words that were counted elsewhere.
using WordCounts = absl::flat_hash_map<std::string, int64_t>;
Vocabulary BuildVocabulary(const WordCounts& counts, const BuildVocabularyOptions& options = {});

// Write and read a vocabulary file: lines "id word" by rising id, with line breaks and backslashes
// in words escaped. kInvalidArgument, naming the line, for other contents; also the errors of
// atomic_file.h.
absl::Status SaveVocabulary(const std::string& path, const Vocabulary& vocabulary);
absl::StatusOr<Vocabulary> LoadVocabulary(const std::string& path);

}  // namespace cooper

#endif  // COOPER_IO_TEXT_TEXT_CORPUS_H_
