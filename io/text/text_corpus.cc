#include "io/text/text_corpus.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::vector<Sentence>> ReadSentences(const std::string& path,
                                                    const ReadSentencesOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  std::vector<Sentence> sentences;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (options.max_sentences >= 0 &&
        static_cast<int64_t>(sentences.size()) == options.max_sentences) {
      break;
    }
    Sentence sentence = absl::StrSplit(line, absl::ByAnyChar(" \t\r\v\f"), absl::SkipEmpty());
    if (sentence.empty()) continue;
    if (!options.end_token.empty()) sentence.push_back(options.end_token);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

Vocabulary BuildVocabulary(absl::Span<const Sentence> sentences,
                           const BuildVocabularyOptions& options) {
  WordCounts counts;
  for (const Sentence& sentence : sentences) {
    for (const std::string& word : sentence) ++counts[word];
  }
  return BuildVocabulary(counts, options);
}

Vocabulary BuildVocabulary(const WordCounts& counts, const BuildVocabularyOptions& options) {
  std::vector<std::pair<absl::string_view, int64_t>> words;
  words.reserve(counts.size());
  for (const auto& [word, count] : counts) {
    if (word != options.unknown_token && word != options.invalid_key) {
      words.emplace_back(word, count);
    }
  }
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });

  Vocabulary vocabulary = {{options.invalid_key, options.invalid_label}};
  int next = options.start_label;
  const auto add = [&](absl::string_view word) {
    if (next == options.invalid_label) ++next;
    vocabulary[word] = next++;
  };
  if (!options.unknown_token.empty()) add(options.unknown_token);
  int64_t taken = 0;
  for (const auto& [word, count] : words) {
    if (count < options.min_count || (options.max_words >= 0 && taken == options.max_words)) break;
    add(word);
    ++taken;
  }
  return vocabulary;
}

absl::Status SaveVocabulary(const std::string& path, const Vocabulary& vocabulary) {
  std::vector<std::pair<int, absl::string_view>> words;
  for (const auto& [word, number] : vocabulary) words.emplace_back(number, word);
  std::sort(words.begin(), words.end());
  std::string text;
  for (const auto& [number, word] : words) {
    absl::StrAppend(&text, number, " ", absl::Utf8SafeCEscape(word), "\n");
  }
  return WriteFileAtomically(path, text);
}

absl::StatusOr<Vocabulary> LoadVocabulary(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  Vocabulary vocabulary;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    line = absl::StripSuffix(line, "\r");  // of an editor on Windows
    if (line.empty()) continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    int number;
    std::string word;
    if (!absl::SimpleAtoi(parts.first, &number) || parts.first.size() == line.size() ||
        !absl::CUnescape(parts.second, &word) ||
        !vocabulary.try_emplace(std::move(word), number).second) {
      return absl::InvalidArgumentError(absl::StrCat("vocabulary '", path, "', line ", line_number,
                                                     ": '", line.substr(0, 80),
                                                     "', expected a number and a new word"));
    }
  }
  return vocabulary;
}

}  // namespace cooper
