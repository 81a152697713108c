// Tests metrics that use lengths: sentences have the same value in every bucket that holds them,
// alone or in batches with rows of padding. The label of padding is a valid class, so no
// ignore_label could exclude it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/metric/composite_metric.h"
#include "module/metric/create_metric.h"
#include "module/metric/custom_metric.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kWords = 9, kTags = 4, kLongest = 8;
using Sequences = std::vector<std::vector<int>>;

// Returns a network that maps each word to tag probabilities, (batch_size * length, tags).
BucketSymbol Network(const BucketKey&) {
  const Symbol embed = op::Embedding(Symbol::Variable("data"),
                                     {.input_dim = kWords, .output_dim = 5, .name = "embed"});
  const Symbol scores = op::FullyConnected(op::Reshape(embed, {.shape = {-1, 5}}),
                                           {.num_hidden = kTags, .name = "tag"});
  return {.symbol = op::SoftmaxOutput(
              scores, {.label = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}}),
                       .name = "softmax"})};
}

// Returns a bound model for data of this layout, "NT" or "TN".
std::unique_ptr<BucketingModule> Model(const std::string& layout = "NT",
                                       std::vector<Context> contexts = {Context::Cpu()}) {
  const Shape shape = layout == "NT" ? Shape({2, kLongest}) : Shape({kLongest, 2});
  auto model = BucketingModule::Create({.sym_gen = Network,
                                        .default_bucket_key = kLongest,
                                        .compute = {.contexts = std::move(contexts)}})
                   .value();
  COOPER_EXPECT_OK(
      model->Bind({.data_shapes = {{.name = "data", .shape = shape, .layout = layout}},
                   .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = layout}}}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = init::Normal(1), .seed = 3}));
  return model;
}

std::unique_ptr<BucketIter> Batches(const Sequences& words, const Sequences& tags, int64_t bucket,
                                    int64_t batch_size, uint64_t seed,
                                    const std::string& layout = "NT") {
  auto batches = BucketIter::Create(
      {{.name = "data", .values = words, .layout = layout}},
      {{.name = "softmax_label", .values = tags, .pad_value = 2, .layout = layout}},
      {.batch_size = batch_size,
       .buckets = {bucket},
       .common = {.last_batch = BucketIterOptions::LastBatch::kPad, .seed = seed}});
  EXPECT_THAT(batches, IsOk());
  return *std::move(batches);
}

// Returns the sentences [first, last).
Sequences Part(const Sequences& all, size_t first, size_t last) {
  return {all.begin() + static_cast<int64_t>(first), all.begin() + static_cast<int64_t>(last)};
}

struct Sentences {
  Sequences words, tags;
  int64_t longest = 0;
};

Sentences RandomSentences(RandomGenerator& random) {
  Sentences sentences;
  for (uint64_t n = 1 + random.NextBelow(6); n > 0; --n) {
    const auto length = static_cast<int64_t>(1 + random.NextBelow(kLongest));
    sentences.longest = std::max(sentences.longest, length);
    std::vector<int> words, tags;
    for (int64_t t = 0; t < length; ++t) {
      words.push_back(static_cast<int>(random.NextBelow(kWords)));
      tags.push_back(static_cast<int>(random.NextBelow(kTags)));
    }
    sentences.words.push_back(words);
    sentences.tags.push_back(tags);
  }
  return sentences;
}

TEST(LengthsMetricTest, ASentenceHasTheSameValueInEveryBucket) {
  const auto rows_first = Model("NT"), steps_first = Model("TN");
  ForRandomCases(300, [&](RandomGenerator& random) {
    const bool is_nt = random.NextBelow(2) == 0;
    const std::string layout = is_nt ? "NT" : "TN";
    BucketingModule* const model = is_nt ? rows_first.get() : steps_first.get();
    const Sentences all = RandomSentences(random);
    for (const char* name : {"acc", "top_k_accuracy", "ce", "nll_loss", "perplexity"}) {
      SCOPED_TRACE(name);
      Kwargs kwargs = {{"use_lengths", "True"}};
      if (std::string(name) == "top_k_accuracy") kwargs["top_k"] = "2";
      COOPER_ASSERT_OK_AND_ASSIGN(const auto metric, CreateMetric(name, kwargs));
      // The expected value: each sentence alone, without padding, where lengths have no effect.
      kwargs.erase("use_lengths");
      COOPER_ASSERT_OK_AND_ASSIGN(const auto plain, CreateMetric(name, kwargs));
      double sum = 0, tokens = 0;
      const bool is_mean_log = std::string(name) == "perplexity";
      for (size_t i = 0; i < all.words.size(); ++i) {
        const auto length = static_cast<int64_t>(all.words[i].size());
        const auto alone =
            Batches(Part(all.words, i, i + 1), Part(all.tags, i, i + 1), length, 1, 0, layout);
        COOPER_ASSERT_OK_AND_ASSIGN(const auto value, model->Score(*alone, *plain));
        const auto weight = static_cast<double>(length);
        sum += weight * (is_mean_log ? std::log(value[0].second) : value[0].second);
        tokens += weight;
      }
      const double expected = is_mean_log ? std::exp(sum / tokens) : sum / tokens;
      for (int64_t bucket = all.longest; bucket <= kLongest; ++bucket) {
        const auto batch_size = static_cast<int64_t>(1 + random.NextBelow(4));
        const auto batches =
            Batches(all.words, all.tags, bucket, batch_size, random.NextUint64(), layout);
        COOPER_ASSERT_OK_AND_ASSIGN(const auto value, model->Score(*batches, *metric));
        // Products with other numbers of rows are rounded differently.
        ASSERT_NEAR(value[0].second, expected, 1e-5 * expected)
            << "bucket " << bucket << ", batches of " << batch_size;
      }
    }
  });
}

// Returns two sentences with 5 words. A batch of two in a bucket of 6 has twelve positions.
Sentences TwoSentences() { return {.words = {{1, 2, 3}, {4, 5}}, .tags = {{0, 1, 3}, {1, 0}}}; }

TEST(LengthsMetricTest, ACompositeGivesEachMetricWhatItTakes) {
  const auto model = Model();
  const auto score = [&](EvalMetric& metric) {
    const Sentences two = TwoSentences();
    const auto values = model->Score(*Batches(two.words, two.tags, 6, 4, 0), metric);
    EXPECT_THAT(values, IsOk());
    return *values;
  };
  CompositeEvalMetric metric;
  metric.AddMetric(Perplexity({}));
  EXPECT_FALSE(metric.uses_lengths());
  metric.AddMetric(Perplexity({.use_lengths = true}));
  int64_t positions = 0;
  metric.AddMetric(CustomMetric(
      [&positions](const NDArray& label, const NDArray&) -> absl::StatusOr<SumAndCount> {
        positions += label.size();
        return SumAndCount{};
      }));
  EXPECT_TRUE(metric.uses_lengths());
  const auto values = score(metric);
  EXPECT_DOUBLE_EQ(values[0].second, score(*Perplexity({}))[0].second);
  EXPECT_DOUBLE_EQ(values[1].second, score(*Perplexity({.use_lengths = true}))[0].second);
  EXPECT_NE(values[0].second, values[1].second);
  EXPECT_EQ(positions, 4 * 6);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto by_name,
      CreateMetric("composite", {{"metrics", "(ce, perplexity)"}, {"use_lengths", "True"}}));
  EXPECT_DOUBLE_EQ(score(*by_name)[1].second, values[1].second);
}

// With a learning rate of 0, training and validation measure the same parameters.
TEST(LengthsMetricTest, TrainingCountsRealStepsToo) {
  const auto model = Model();
  const Sentences two = TwoSentences();
  const auto batches = Batches(two.words, two.tags, kLongest, 4, 0);
  const auto metric = Perplexity({.use_lengths = true});
  COOPER_ASSERT_OK(
      model->Fit(*batches, {.eval_metric = metric.get(),
                            .progress = nullptr,
                            .optimizer = {.optimizer_params = {{"learning_rate", "0"}}},
                            .num_epoch = 1}));
  const double trained = metric->GetGlobalNameValue()[0].second;
  COOPER_ASSERT_OK_AND_ASSIGN(const auto value, model->Score(*batches, *metric));
  EXPECT_DOUBLE_EQ(trained, value[0].second);
  const auto padded = Perplexity({});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto counted, model->Score(*batches, *padded));
  EXPECT_GT(std::abs(counted[0].second - trained), 1e-3);
}

// The contexts compute different rows of a batch; their masks must match.
TEST(LengthsMetricTest, SeveralContextsCountTheSameSteps) {
  const Sentences two = TwoSentences();
  Sentences four = two;
  four.words.insert(four.words.end(), two.words.begin(), two.words.end());
  four.tags.insert(four.tags.end(), two.tags.begin(), two.tags.end());
  four.words.emplace_back(5, 1);
  four.tags.emplace_back(5, 3);
  const auto one_context = Model();
  const auto several = Model("NT", {Context::Cpu(0), Context::Cpu(1)});
  for (const int64_t batch_size : {2, 4, 6}) {
    const auto metric = Perplexity({.use_lengths = true});
    const auto batches = Batches(four.words, four.tags, 7, batch_size, 0);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, one_context->Score(*batches, *metric));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto value, several->Score(*batches, *metric));
    EXPECT_NEAR(value[0].second, expected[0].second, 1e-5 * expected[0].second) << batch_size;
  }
}

// Serves batches with one more length than rows.
class WrongLengths : public DataIter {
 public:
  absl::StatusOr<std::optional<DataBatch>> Next() override {
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, batches_->Next());
    if (batch.has_value()) batch->lengths.push_back(1);
    return batch;
  }
  absl::Status Reset() override { return batches_->Reset(); }
  const std::vector<DataDesc>& provide_data() const override { return batches_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return batches_->provide_label(); }
  int64_t batch_size() const override { return 2; }

 private:
  const std::unique_ptr<BucketIter> batches_ = Batches({{1, 2}, {3}}, {{1, 2}, {3}}, 2, 2, 0);
};

TEST(LengthsMetricTest, RowsWithoutALengthAreAnError) {
  WrongLengths batches;
  EXPECT_THAT(Model()->Score(batches, *Perplexity({.use_lengths = true})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("label 'softmax_label' (2, 2) has 2 rows, the batch 3 lengths")));
  COOPER_EXPECT_OK(Model()->Score(batches, *Perplexity({})).status());
}

}  // namespace
}  // namespace cooper
