#include "examples/transformer/generated_data.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ndarray/random/random.h"

namespace cooper {

Corpus MakeTopicCorpus(int64_t train_sentences, int64_t valid_sentences, uint64_t seed) {
  constexpr int kTopics = 4, kWords = 50;
  RandomGenerator random(seed);
  const auto sentence = [&random] {
    std::vector<int> ids(5 + random.NextBelow(56));
    const int topic = static_cast<int>(random.NextBelow(kTopics));
    ids[0] = 1 + topic;
    int word = 0;
    for (size_t t = 1; t < ids.size(); ++t) {
      const int eighth = static_cast<int>(random.NextBelow(8));
      const int successor = eighth < 4 ? 0 : eighth < 6 ? 1 : eighth - 4;
      word = (7 * word + 13 + 12 * successor + 3 * topic) % kWords;
      ids[t] = 1 + kTopics + word;
    }
    return ids;
  };
  Corpus corpus = {.train = {}, .valid = {}, .num_ids = 1 + kTopics + kWords};
  for (int64_t i = 0; i < train_sentences; ++i) corpus.train.push_back(sentence());
  for (int64_t i = 0; i < valid_sentences; ++i) corpus.valid.push_back(sentence());
  return corpus;
}

OrderedSequences MakeOrderedSequences(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  OrderedSequences sequences;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int> words(6 + random.NextBelow(35));
    for (int& word : words) word = static_cast<int>(4 + random.NextBelow(20));
    std::vector<size_t> places;  // of 1, 2 and 3
    while (places.size() < 3) {
      const size_t place = random.NextBelow(words.size());
      if (words[place] <= 3) continue;
      places.push_back(place);
      words[place] = static_cast<int>(places.size());
    }
    const int first =
        static_cast<int>(std::min_element(places.begin(), places.end()) - places.begin());
    const bool next_is_second = places[(first + 1) % 3] < places[(first + 2) % 3];
    sequences.classes.push_back(2 * first + (next_is_second ? 0 : 1));
    sequences.words.push_back(std::move(words));
  }
  return sequences;
}

}  // namespace cooper
