#ifndef COOPER_IO_TEXT_TEXT_CORPUS_H_
#define COOPER_IO_TEXT_TEXT_CORPUS_H_

// Reads texts with a sentence on each line and spaces between the words, and makes vocabularies.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/text/encode_sentences.h"

namespace cooper {

struct ReadSentencesOptions {
  // Put at the end of each sentence, such as "<eos>". Empty: nothing is.
  std::string end_token;
  int64_t max_sentences = -1;  // negative: all
};

// The words of each line, without a byte order mark; lines without words are left out. Errors are
// those of ReadFile (ndarray/base/atomic_file.h): kNotFound, with the path, if there is no such
// file.
absl::StatusOr<std::vector<Sentence>> ReadSentences(const std::string& path,
                                                    const ReadSentencesOptions& options = {});

struct BuildVocabularyOptions {
  int invalid_label = -1;
  std::string invalid_key = "\n";
  int start_label = 0;
  std::string unknown_token;  // numbered first; empty: none
  int64_t min_count = 1;      // rarer words are left out
  int64_t max_words = -1;     // only the most frequent words; negative: all
};

// Numbers words by falling frequency, those of equal frequency in alphabetical order.
Vocabulary BuildVocabulary(absl::Span<const Sentence> sentences,
                           const BuildVocabularyOptions& options = {});

// A vocabulary as a file: "number word" lines by rising number, with line breaks and backslashes of
// words escaped. kInvalidArgument, naming the line, for other contents.
absl::Status SaveVocabulary(const std::string& path, const Vocabulary& vocabulary);
absl::StatusOr<Vocabulary> LoadVocabulary(const std::string& path);

}  // namespace cooper

#endif  // COOPER_IO_TEXT_TEXT_CORPUS_H_
