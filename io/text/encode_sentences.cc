#include "io/text/encode_sentences.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

// Assigns ids from `start` on, except `skipped`.
class Numbers {
 public:
  Numbers(int start, int skipped) : next_(start), skipped_(skipped) {}

  int Next() {
    if (next_ == skipped_) ++next_;
    return next_++;
  }

 private:
  int next_;
  const int skipped_;
};

}  // namespace

EncodedSentences EncodeSentences(absl::Span<const Sentence> sentences,
                                 const EncodeSentencesOptions& options) {
  EncodedSentences encoded;
  encoded.vocabulary[options.invalid_key] = options.invalid_label;
  Numbers numbers(options.start_label, options.invalid_label);
  if (!options.unknown_token.empty()) encoded.vocabulary[options.unknown_token] = numbers.Next();
  encoded.sentences.reserve(sentences.size());
  for (const Sentence& sentence : sentences) {
    std::vector<int>& coded = encoded.sentences.emplace_back();
    coded.reserve(sentence.size());
    for (const std::string& word : sentence) {
      const auto [it, is_new] = encoded.vocabulary.try_emplace(word, 0);
      if (is_new) it->second = numbers.Next();
      coded.push_back(it->second);
    }
  }
  return encoded;
}

absl::StatusOr<EncodedSentences> EncodeSentences(absl::Span<const Sentence> sentences,
                                                 const Vocabulary& vocabulary,
                                                 const EncodeSentencesOptions& options) {
  EncodedSentences encoded;
  encoded.vocabulary = vocabulary;
  int unknown = options.invalid_label;
  if (!options.unknown_token.empty()) {
    int64_t above = options.start_label;
    for (const auto& [word, number] : vocabulary) above = std::max(above, int64_t{number} + 1);
    if (above == options.invalid_label) ++above;
    const auto [it, is_new] =
        encoded.vocabulary.try_emplace(options.unknown_token, static_cast<int>(above));
    if (is_new && above > std::numeric_limits<int>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "encode_sentences: no number is left for the unknown_token '", options.unknown_token,
          "' above those of the vocabulary, up to ", std::numeric_limits<int>::max()));
    }
    unknown = it->second;
  }
  encoded.sentences.reserve(sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::vector<int>& coded = encoded.sentences.emplace_back();
    coded.reserve(sentences[i].size());
    for (size_t j = 0; j < sentences[i].size(); ++j) {
      const auto it = vocabulary.find(sentences[i][j]);
      if (it == vocabulary.end() && options.unknown_token.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("encode_sentences: word ", j, " of sentence ", i, ", '", sentences[i][j],
                         "', is not in the vocabulary of ", vocabulary.size(),
                         " words, and there is no unknown_token"));
      }
      coded.push_back(it == vocabulary.end() ? unknown : it->second);
    }
  }
  return encoded;
}

}  // namespace cooper
