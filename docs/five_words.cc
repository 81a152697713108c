#include "docs/five_words.h"

#include "ndarray/random.h"
#include "ndarray/status_macros.h"
#include "symbol/symbol.h"

namespace cooper {

absl::StatusOr<BucketSymbol> NextOfFive(const BucketKey&) {
  COOPER_ASSIGN_OR_RETURN(
      const Symbol embed,
      Symbol::Create("Embedding", {.name = "embed",
                                   .inputs = {Symbol::Variable("data")},
                                   .attrs = {{"input_dim", "6"}, {"output_dim", "8"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol rows,
      Symbol::Create("Reshape", {.inputs = {embed}, .attrs = {{"shape", "(-1, 8)"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol dropped,
                          Symbol::Create("Dropout", {.inputs = {rows}, .attrs = {{"p", "0.1"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol pred,
      Symbol::Create("FullyConnected",
                     {.name = "pred", .inputs = {dropped}, .attrs = {{"num_hidden", "6"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol labels,
                          Symbol::Create("Reshape", {.inputs = {Symbol::Variable("softmax_label")},
                                                     .attrs = {{"shape", "(-1,)"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol softmax,
      Symbol::Create("SoftmaxOutput", {.name = "softmax",
                                       .inputs = {pred, labels},
                                       .attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}}}));
  return BucketSymbol{.symbol = softmax};
}

std::vector<std::vector<int>> SentencesOfFiveWords() {
  RandomGenerator random(1);
  std::vector<std::vector<int>> sentences(100);
  for (auto& sentence : sentences) {
    sentence.resize(2 + random.NextBelow(11));
    for (int& word : sentence) word = 1 + static_cast<int>(random.NextBelow(5));
  }
  return sentences;
}

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> FiveWords() {
  return BucketSentenceIter::Create(SentencesOfFiveWords(), 4,
                                    {.buckets = {4, 8, 12}, .invalid_label = 0});
}

}  // namespace cooper
