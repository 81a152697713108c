// Trains a tiny model with two buckets, linking only the kernels of its own operators.

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/metric/classification.h"
#include "symbol/graph/symbol.h"

namespace {

using cooper::Symbol;

constexpr int kWords = 5;

// Returns a network in which each word predicts the next one: softmax(W * embedding(word)).
absl::StatusOr<cooper::BucketSymbol> NextWord(const cooper::BucketKey&) {
  auto embedding =
      Symbol::Create("Embedding", {.name = "embed",
                                   .inputs = {Symbol::Variable("data")},
                                   .attrs = {{"input_dim", "5"}, {"output_dim", "8"}}});
  if (!embedding.ok()) return embedding.status();
  auto rows = Symbol::Create("Reshape", {.inputs = {*embedding}, .attrs = {{"shape", "(-1, 8)"}}});
  if (!rows.ok()) return rows.status();
  auto scores = Symbol::Create("FullyConnected",
                               {.name = "fc", .inputs = {*rows}, .attrs = {{"num_hidden", "5"}}});
  if (!scores.ok()) return scores.status();
  auto labels = Symbol::Create(
      "Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  if (!labels.ok()) return labels.status();
  auto output = Symbol::Create(
      "SoftmaxOutput",
      {.name = "softmax",
       .inputs = {*scores, *labels},
       .attrs = {{"use_ignore", "True"}, {"ignore_label", "-1"}, {"normalization", "valid"}}});
  if (!output.ok()) return output.status();
  return cooper::BucketSymbol{.symbol = *std::move(output)};
}

// Returns 0 1 2 3 4 0 1 ..., in sentences of three and of six words.
std::vector<std::vector<int>> CountingSentences() {
  std::vector<std::vector<int>> sentences;
  for (int i = 0; i < 40; ++i) {
    std::vector<int> sentence;
    for (int t = 0; t < (i % 2 == 0 ? 3 : 6); ++t) sentence.push_back((i + t) % kWords);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

TEST(BucketingTest, LearnsToCount) {
  auto data = cooper::BucketSentenceIter::Create(CountingSentences(), /*batch_size=*/4,
                                                 {.buckets = {3, 6}});
  ASSERT_TRUE(data.ok()) << data.status();
  auto model = cooper::BucketingModule::Create(
      {.sym_gen = NextWord, .default_bucket_key = (*data)->default_bucket_key()});
  ASSERT_TRUE(model.ok()) << model.status();

  const auto perplexity = cooper::Perplexity({.ignore_label = -1});
  const absl::Status status = (*model)->Fit(
      **data,
      {.eval_metric = perplexity.get(),
       .optimizer = {.optimizer = "adam",
                     .optimizer_params = {{"learning_rate", "0.05"}, {"rescale_grad", "1.0"}}},
       .num_epoch = 30});
  ASSERT_TRUE(status.ok()) << status;

  const auto scores = (*model)->Score(**data, *perplexity);
  ASSERT_TRUE(scores.ok()) << scores.status();
  ASSERT_EQ(scores->size(), 1u);
  EXPECT_LT((*scores)[0].second, 1.1) << "an untrained model has perplexity " << kWords;
}

}  // namespace
