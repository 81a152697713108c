#include "docs/five_words.h"

#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"

namespace cooper {

Symbol NextOfFive(const BucketKey&) {
  const Symbol embed =
      op::Embedding(Symbol::Variable("data"), {.input_dim = 6, .output_dim = 8, .name = "embed"});
  const Symbol rows = op::Reshape(embed, {.shape = {-1, 8}});
  const Symbol dropped = op::Dropout(rows, {.p = 0.1});
  const Symbol pred = op::FullyConnected(dropped, {.num_hidden = 6, .name = "pred"});
  const Symbol labels = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}});
  return op::SoftmaxOutput(
      pred, {.label = labels, .ignore_label = 0, .use_ignore = true, .name = "softmax"});
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
