#include "tools/lm_train/lm_corpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr int64_t kShortest = 5;
constexpr int64_t kLongest = 60;

absl::StatusOr<std::vector<Sentence>> ReadNonEmpty(const std::string& path,
                                                   int64_t max_sentences = -1) {
  COOPER_ASSIGN_OR_RETURN(std::vector<Sentence> sentences,
                          ReadSentences(path, {.max_sentences = max_sentences}));
  if (sentences.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the text has no sentence"));
  }
  return sentences;
}

constexpr char kUnknown[] = "<unk>";

// Replaces all words but the `max_words` most frequent ones by kUnknown.
void KeepFrequentWords(int64_t max_words, std::vector<Sentence>* sentences) {
  struct Count {
    int64_t times = 0, first = 0;
  };
  absl::flat_hash_map<std::string, Count> counts;
  for (const Sentence& sentence : *sentences) {
    for (const std::string& word : sentence) {
      const auto place = static_cast<int64_t>(counts.size());
      ++counts.try_emplace(word, Count{.first = place}).first->second.times;
    }
  }
  std::vector<std::pair<Count, std::string>> words;
  words.reserve(counts.size());
  for (const auto& [word, count] : counts) words.emplace_back(count, word);
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.first.times != b.first.times ? a.first.times > b.first.times
                                          : a.first.first < b.first.first;
  });
  for (size_t i = static_cast<size_t>(max_words); i < words.size(); ++i) {
    counts.erase(words[i].second);
  }
  for (Sentence& sentence : *sentences) {
    for (std::string& word : sentence) {
      if (!counts.contains(word)) word = kUnknown;
    }
  }
}

}  // namespace

absl::StatusOr<LmCorpus> ReadLmCorpus(const std::string& train_path, const std::string& valid_path,
                                      int64_t max_sentences, int64_t max_words) {
  const EncodeSentencesOptions options{
      .invalid_label = 0, .start_label = 1, .unknown_token = kUnknown};
  COOPER_ASSIGN_OR_RETURN(std::vector<Sentence> train, ReadNonEmpty(train_path, max_sentences));
  if (max_words > 0) KeepFrequentWords(max_words, &train);
  EncodedSentences encoded = EncodeSentences(train, options);
  LmCorpus corpus;
  corpus.train = std::move(encoded.sentences);
  Vocabulary vocabulary = std::move(encoded.vocabulary);
  if (!valid_path.empty()) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> valid, ReadNonEmpty(valid_path));
    COOPER_ASSIGN_OR_RETURN(encoded, EncodeSentences(valid, vocabulary, options));
    corpus.valid = std::move(encoded.sentences);
    vocabulary = std::move(encoded.vocabulary);
  }
  for (const auto& [word, id] : vocabulary) {
    corpus.vocab = std::max<int64_t>(corpus.vocab, id + 1);
  }
  corpus.vocabulary = std::move(vocabulary);
  return corpus;
}

LmCorpus MakeSyntheticCorpus(int64_t words, int64_t train_sentences, int64_t valid_sentences,
                             uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<std::array<int, 4>> successors(static_cast<size_t>(words));
  for (auto& four : successors) {
    std::vector<int64_t> order = random.Permutation(words);
    for (int k = 0; k < 4; ++k) four[k] = static_cast<int>(order[k]);
  }
  auto sentence = [&] {
    std::vector<int> ids(kShortest + random.NextBelow(kLongest - kShortest + 1));
    int word = static_cast<int>(random.NextBelow(words));
    for (int& id : ids) {
      id = word + 1;
      const uint64_t eighths = random.NextBelow(8);
      word = successors[word][eighths < 4 ? 0 : eighths < 6 ? 1 : eighths - 4];
    }
    return ids;
  };
  LmCorpus corpus{.vocab = words + 1, .perplexity_floor = std::exp2(1.75)};
  for (int64_t i = 0; i < train_sentences; ++i) corpus.train.push_back(sentence());
  for (int64_t i = 0; i < valid_sentences; ++i) corpus.valid.push_back(sentence());
  return corpus;
}

}  // namespace cooper
