#include "examples/transformer/transformer.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "examples/transformer/generated_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using Sentences = std::vector<std::vector<int>>;
using Rows = std::vector<std::vector<float>>;

const TransformerOptions kSmall = {.width = 32, .layers = 2, .heads = 2, .dropout = 0};

TransformerTraining Training(int num_epoch) {
  return {.num_epoch = num_epoch, .learning_rate = 0.005, .progress = nullptr};
}

// Returns the probabilities of all real positions, sentence after sentence, in a bucket of this
// length.
absl::StatusOr<std::vector<Rows>> Probabilities(BucketingModule& model, const Sentences& sentences,
                                                int64_t bucket) {
  COOPER_ASSIGN_OR_RETURN(
      auto batches,
      BucketSentenceIter::Create(
          sentences, static_cast<int64_t>(sentences.size()),
          {.buckets = {bucket}, .invalid_label = 0, .layout = "TN", .length_name = "length"}));
  std::vector<Rows> all(sentences.size());
  COOPER_RETURN_IF_ERROR(model.IterPredict(
      *batches,
      [&](const std::vector<NDArray>& outputs, int64_t, const DataBatch& batch) -> absl::Status {
        COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, outputs[0].Data<float>());
        const size_t num_ids = outputs[0].shape()[1], rows = batch.index.size();
        for (size_t row = 0; row < rows; ++row) {
          for (int64_t t = 0; t < batch.lengths[row]; ++t) {
            const auto own = values.subspan((t * rows + row) * num_ids, num_ids);
            all[batch.index[row]].emplace_back(own.begin(), own.end());
          }
        }
        return absl::OkStatus();
      }));
  return all;
}

class PositionsTest : public ::testing::TestWithParam<Positions> {
 protected:
  // Returns a model after one epoch, so that no parameter has a special value.
  static absl::StatusOr<std::unique_ptr<BucketingModule>> Model() {
    TransformerOptions options = kSmall;
    options.positions = GetParam();
    return TrainLanguageModel(MakeTopicCorpus(200, 0, /*seed=*/1), options, Training(1));
  }
};

TEST_P(PositionsTest, LaterWordsDoNotChangeEarlierOutputs) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, Model());
  // Only the words from position 3 on differ.
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto rows, Probabilities(*model, {{1, 20, 30, 40, 50, 10}, {1, 20, 30, 7, 8, 9}}, 6));
  ASSERT_EQ(rows[0].size(), 6u);
  for (int t = 0; t < 3; ++t) EXPECT_THAT(rows[0][t], Pointwise(FloatNear(1e-6f), rows[1][t]));
  for (int t = 3; t < 6; ++t) EXPECT_NE(rows[0][t], rows[1][t]);
}

TEST_P(PositionsTest, EarlierWordsAndTheirPositionsMatter) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, Model());
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto rows,
      Probabilities(*model, {{1, 20, 30, 40}, {2, 20, 30, 40}, {1, 30, 20, 40}}, 4));
  EXPECT_NE(rows[0][3], rows[1][3]);
  EXPECT_NE(rows[0][3], rows[2][3]);
}

TEST_P(PositionsTest, PaddingDoesNotChangeOutputs) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, Model());
  const Sentences sentences = {{1, 20, 30, 40, 50}, {2, 9, 8}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto shorter, Probabilities(*model, sentences, 5));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto longer, Probabilities(*model, sentences, 24));
  for (size_t i = 0; i < sentences.size(); ++i) {
    ASSERT_EQ(shorter[i].size(), sentences[i].size());
    for (size_t t = 0; t < sentences[i].size(); ++t) {
      EXPECT_THAT(shorter[i][t], Pointwise(FloatNear(1e-6f), longer[i][t])) << i << " " << t;
    }
  }
}

TEST_P(PositionsTest, LanguageModelUsesTheFirstWord) {
  TransformerOptions options = kSmall;
  options.positions = GetParam();
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, TrainLanguageModel(MakeTopicCorpus(1500, 0, /*seed=*/1), options, Training(8)));
  const Corpus valid = MakeTopicCorpus(200, 0, /*seed=*/2);
  COOPER_ASSERT_OK_AND_ASSIGN(auto batches,
                              SentenceBatches(valid.train, options.max_length, 32, /*seed=*/1));
  const auto perplexity = Perplexity({.ignore_label = 0});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, model->Score(*batches, *perplexity));
  // 13.45 for the best model of pairs of words, 3.36 for the best of all.
  EXPECT_LT(scores[0].second, 6);
  EXPECT_GT(scores[0].second, 3.2);
}

TEST_P(PositionsTest, ClassifierTellsOrdersApart) {
  TransformerOptions options = kSmall;
  options.positions = GetParam();
  const OrderedSequences valid = MakeOrderedSequences(500, /*seed=*/2);
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, TrainClassifier(MakeOrderedSequences(2000, /*seed=*/1),
                                                          valid, options, Training(8)));
  COOPER_ASSERT_OK_AND_ASSIGN(auto batches, SequenceBatches(valid, 32, /*seed=*/1));
  const auto accuracy = Accuracy({});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, model->Score(*batches, *accuracy));
  EXPECT_GT(scores[0].second, 0.8);  // 0.17 by guessing
}

INSTANTIATE_TEST_SUITE_P(Both, PositionsTest,
                         ::testing::Values(Positions::kLearned, Positions::kSinusoidal),
                         [](const auto& info) {
                           return info.param == Positions::kLearned ? "Learned" : "Sinusoidal";
                         });

TEST(TransformerTest, PaddingDoesNotChangeClasses) {
  OrderedSequences sequences = MakeOrderedSequences(200, /*seed=*/1);
  COOPER_ASSERT_OK_AND_ASSIGN(auto model,
                              TrainClassifier(sequences, sequences, kSmall, Training(1)));
  const Sentences words = {{1, 5, 2, 6, 3, 7}};
  std::vector<std::vector<float>> outputs;
  for (const int64_t bucket : {6, 24}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto batches,
        BucketIter::Create(
            {{.name = "data", .values = words, .layout = "TN", .length_name = "length"}},
            {{.name = "softmax_label", .values = std::vector<int>{0}}},
            {.batch_size = 1, .buckets = {BucketKey(bucket)}}));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto rows, model->Predict(*batches));
    COOPER_ASSERT_OK_AND_ASSIGN(outputs.emplace_back(), rows[0].ToVector<float>());
  }
  EXPECT_THAT(outputs[0], Pointwise(FloatNear(1e-6f), outputs[1]));
}

TEST(TransformerTest, BucketsShareParametersOfEqualShapes) {
  for (const Positions positions : {Positions::kLearned, Positions::kSinusoidal}) {
    TransformerOptions options = kSmall;
    options.positions = positions;
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto model, TrainLanguageModel(MakeTopicCorpus(200, 0, /*seed=*/1), options, Training(1)));
    EXPECT_GT(model->Report().size(), 1u);
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
    EXPECT_EQ(params.args.count("position_weight"), positions == Positions::kLearned ? 1u : 0u);
    if (positions == Positions::kLearned) {
      EXPECT_EQ(params.args.at("position_weight").shape(), Shape({60, 32}));
    }
  }
}

TEST(TransformerTest, SplitsLongSentences) {
  TransformerOptions options = kSmall;
  options.max_length = 16;
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, TrainLanguageModel(MakeTopicCorpus(100, 0, /*seed=*/1), options, Training(1)));
  EXPECT_EQ(model->default_bucket_key(), BucketKey(16));
}

TEST(TransformerTest, GeneratedClassesFollowTheOrder) {
  const OrderedSequences sequences = MakeOrderedSequences(600, /*seed=*/1);
  std::vector<std::vector<int>> orders(OrderedSequences::kClasses);
  for (size_t i = 0; i < sequences.words.size(); ++i) {
    std::vector<int> order;
    for (const int word : sequences.words[i]) {
      if (word <= 3) order.push_back(word);
    }
    auto& known = orders[sequences.classes[i]];
    if (known.empty()) known = order;
    EXPECT_EQ(order, known);
  }
  EXPECT_THAT(orders,
              ElementsAre(ElementsAre(1, 2, 3), ElementsAre(1, 3, 2), ElementsAre(2, 3, 1),
                          ElementsAre(2, 1, 3), ElementsAre(3, 1, 2), ElementsAre(3, 2, 1)));
}

TEST(TransformerTest, ChecksOptions) {
  struct Case {
    TransformerOptions network;
    TransformerTraining training;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {{.width = 0}, {}, "width = 0: expected a positive number"},
           {{.width = 33, .heads = 3}, {}, "width = 33: expected an even number"},
           {{.width = 32, .heads = 3}, {}, "heads = 3: expected a divisor of width = 32"},
           {{.max_length = -1}, {}, "max_length = -1: expected a positive number"},
           {{.dropout = 1}, {}, "dropout = 1: expected a number in [0, 1)"},
           {{}, {.num_epoch = 0}, "epochs = 0: expected a positive number"},
           {{}, {.learning_rate = 0}, "learning_rate = 0: expected a finite number above 0"},
           {{}, {.warmup = 1}, "warmup = 1: expected a share of the updates in [0, 1)"}}) {
    EXPECT_THAT(CheckOptions(c.network, c.training),
                StatusIs(absl::StatusCode::kInvalidArgument, c.error));
  }
  EXPECT_THAT(TransformerLanguageModel(BucketKey(61), {.num_ids = 10}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("61 positions, expected at most max_length = 60")));
}

}  // namespace
}  // namespace cooper
