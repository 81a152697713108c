#include "module/bucketing/bucket_plan.h"

#include <cstdint>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kVocabulary = 50, kHidden = 12;

Symbol NextWord(const BucketKey& key) {
  const Symbol embed = op::Embedding(Symbol::Variable("data"),
                                     {.input_dim = kVocabulary, .output_dim = 8, .name = "embed"});
  LSTMCell cell(kHidden, {.prefix = "lstm_"});
  const Unrolled unrolled =
      Unroll(cell, static_cast<int>(key.int_value()), embed, {.merge_outputs = true});
  const Symbol rows = op::Reshape(unrolled.outputs.merged(), {.shape = {-1, kHidden}});
  const Symbol pred = op::FullyConnected(rows, {.num_hidden = kVocabulary, .name = "pred"});
  return op::SoftmaxOutput(
      pred, {.label = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}}),
             .name = "softmax"});
}

BucketShapes ShapesOf(int64_t length, int64_t batch_size) {
  return {
      .key = length,
      .data_shapes = {{.name = "data", .shape = {batch_size, length}, .layout = "NT"}},
      .label_shapes = {{.name = "softmax_label", .shape = {batch_size, length}, .layout = "NT"}}};
}

BucketPlan PlanOf(const std::vector<int64_t>& lengths) {
  BucketPlanOptions options{.sym_gen = NextWord};
  options.buckets.reserve(lengths.size());
  for (const int64_t length : lengths) options.buckets.push_back(ShapesOf(length, 1));
  auto plan = BucketPlan::Create(std::move(options));
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// Returns the reports of a module with these batch sizes once all buckets are bound.
std::vector<BucketReport> Bound(const std::map<BucketKey, int64_t>& batch_sizes) {
  const auto& [last_key, last_size] = *batch_sizes.rbegin();
  auto model =
      BucketingModule::Create({.sym_gen = NextWord, .default_bucket_key = last_key}).value();
  const BucketShapes last = ShapesOf(last_key.int_value(), last_size);
  COOPER_EXPECT_OK(
      model->Bind({.data_shapes = last.data_shapes, .label_shapes = last.label_shapes}));
  std::vector<BucketShapes> all;
  all.reserve(batch_sizes.size());
  for (const auto& [key, size] : batch_sizes) all.push_back(ShapesOf(key.int_value(), size));
  auto reports = model->PrepareAll(all);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return *std::move(reports);
}

TEST(BucketPlanTest, SaysWhatBindingTakes) {
  BucketPlan plan = PlanOf({3, 7, 20});
  const std::map<BucketKey, int64_t> sizes = {{3, 16}, {7, 5}, {20, 1}};
  const std::vector<BucketReport> reports = Bound(sizes);
  int64_t largest = 0;
  size_t i = 0;
  for (const auto& [key, size] : sizes) {
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes bytes, plan.Bytes(key, size));
    EXPECT_EQ(bytes.arena, reports[i].memory.planned_bytes);
    EXPECT_EQ(bytes.lower_bound, reports[i].memory.lower_bound);
    EXPECT_EQ(bytes.inputs, 2 * 4 * key.int_value() * size);
    largest = std::max(largest, bytes.arena);
    ++i;
  }
  const std::vector<BucketPlan::BucketSize> all(sizes.begin(), sizes.end());
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes together, plan.Bytes(all));
  EXPECT_EQ(together.arena, largest);
  EXPECT_EQ(together.arena, reports.back().memory.arena_bytes);
  // Weights and biases of the embedding, the LSTM and the classes, each with a gradient.
  const int64_t weights =
      kVocabulary * 8 + 4 * kHidden * (8 + kHidden + 2) + kVocabulary * (kHidden + 1);
  EXPECT_EQ(together.parameters, 2 * 4 * weights);
}

TEST(BucketPlanTest, BatchesFillABudgetOfBytes) {
  const std::vector<int64_t> lengths = {2, 5, 11, 23, 40};
  BucketPlan plan = PlanOf(lengths);
  for (const int64_t budget : {40'000, 123'456, 500'000, 2'000'000}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto sizes, plan.LargestBatches(budget));
    for (const auto& [key, size] : sizes) {
      COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes bytes, plan.Bytes(key, size));
      EXPECT_LE(bytes.arena, budget);
      COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes more, plan.Bytes(key, size + 1));
      EXPECT_GT(more.arena, budget) << key << " " << size;
    }
    for (const BucketReport& report : Bound(sizes)) EXPECT_LE(report.memory.arena_bytes, budget);
  }
}

// A step of twice the length has twice the operations, except for the gradients of weights, which
// are written once, and other constant parts.
TEST(BucketPlanTest, SaysWhatAStepComputes) {
  BucketPlan plan = PlanOf({10, 20, 40});
  COOPER_ASSERT_OK_AND_ASSIGN(const double shortest, plan.Flops(10, 4));
  COOPER_ASSERT_OK_AND_ASSIGN(const double middle, plan.Flops(20, 4));
  COOPER_ASSERT_OK_AND_ASSIGN(const double longest, plan.Flops(40, 4));
  // Matrix products of a word: gates, then classes; one forward, two backward.
  const double word = 3.0 * 2 * (4 * kHidden * (8 + kHidden) + kVocabulary * kHidden);
  EXPECT_GT(middle - shortest, 10 * 4 * word);
  EXPECT_LT(middle - shortest, 1.5 * 10 * 4 * word);
  EXPECT_NEAR(longest - middle, 2 * (middle - shortest), 0.01 * middle);
  EXPECT_THAT(plan.Flops(11, 4), StatusIs(absl::StatusCode::kNotFound, HasSubstr("bucket 11")));
}

TEST(BucketPlanTest, KeepsToTheLargestBatchSize) {
  BucketPlan plan = PlanOf({5});
  COOPER_ASSERT_OK_AND_ASSIGN(const int64_t size, plan.LargestBatch(5, int64_t{1} << 30, 37));
  EXPECT_EQ(size, 37);
  COOPER_ASSERT_OK_AND_ASSIGN(const int64_t none, plan.LargestBatch(5, 64));
  EXPECT_EQ(none, 0);
  EXPECT_THAT(plan.LargestBatches(64),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("bucket key 5"), HasSubstr("one sample"))));
}

TEST(BucketPlanTest, TellsWhatIsWrong) {
  EXPECT_THAT(BucketPlan::Create({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sym_gen")));
  EXPECT_THAT(BucketPlan::Create({.sym_gen = NextWord}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no bucket")));
  EXPECT_THAT(
      BucketPlan::Create({.sym_gen = NextWord, .buckets = {ShapesOf(3, 1), ShapesOf(3, 2)}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("key 3 is listed twice")));
  BucketPlan plan = PlanOf({3});
  EXPECT_THAT(plan.Bytes(4, 1), StatusIs(absl::StatusCode::kNotFound, HasSubstr("bucket 4")));
  EXPECT_THAT(plan.Bytes(3, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch_size is 0")));
}

}  // namespace
}  // namespace cooper
