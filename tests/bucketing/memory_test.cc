// Tests the sharing between buckets: one arena for any default key and order, and steps without
// allocations.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/heap_counter.h"
#include "benchmarks/lm_batches.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

constexpr int64_t kBatchSize = 4;
constexpr int64_t kVocab = 40;
const std::vector<int64_t> kBuckets = {10, 20, 30, 40, 50, 60};

BucketShapes ShapesOf(int64_t bucket) {
  const Shape shape({kBatchSize, bucket});
  return {.key = bucket,
          .data_shapes = {{.name = "data", .shape = shape, .layout = "NT"}},
          .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}};
}

// Returns a small language model, bound to its default bucket, with parameters and optimizer.
std::unique_ptr<BucketingModule> MakeModel(int64_t default_key, const std::string& cell = "lstm",
                                           std::set<std::string> disabled_passes = {}) {
  auto sym_gen = MakeLanguageModel({.vocab = kVocab,
                                    .num_embed = 16,
                                    .num_hidden = 16,
                                    .num_layers = 2,
                                    .cell = cell,
                                    .use_ignore = true});
  EXPECT_TRUE(sym_gen.ok()) << sym_gen.status();
  auto model =
      BucketingModule::Create({.sym_gen = *sym_gen,
                               .default_bucket_key = default_key,
                               .compute = {.disabled_passes = std::move(disabled_passes)}});
  EXPECT_TRUE(model.ok()) << model.status();
  const BucketShapes shapes = ShapesOf(default_key);
  COOPER_EXPECT_OK(
      (*model)->Bind({.data_shapes = shapes.data_shapes, .label_shapes = shapes.label_shapes}));
  COOPER_EXPECT_OK((*model)->InitParams());
  COOPER_EXPECT_OK((*model)->InitOptimizer());
  return *std::move(model);
}

absl::Status Step(BucketingModule& model, const DataBatch& batch) {
  absl::Status status = model.ForwardBackward(batch);
  return status.ok() ? model.Update() : status;
}

int64_t LargestPlan(const BucketingModule& model) {
  int64_t largest = 0;
  for (const BucketReport& report : model.Report()) {
    largest = std::max(largest, report.memory.planned_bytes);
  }
  return largest;
}

int64_t PlanOfLargestBucketAlone() {
  return MakeModel(kBuckets.back())->Report()[0].memory.planned_bytes;
}

TEST(BucketMemoryTest, AnyDefaultKeyGivesTheLargestPlan) {
  const int64_t expected = PlanOfLargestBucketAlone();
  for (int64_t default_key : kBuckets) {
    SCOPED_TRACE(default_key);
    auto model = MakeModel(default_key);
    std::vector<BucketShapes> shapes;
    for (int64_t bucket : kBuckets) shapes.push_back(ShapesOf(bucket));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<BucketReport> reports, model->PrepareAll(shapes));
    EXPECT_EQ(reports.size(), kBuckets.size());
    EXPECT_EQ(model->group()->arena_bytes(), expected);
    EXPECT_EQ(LargestPlan(*model), expected);
  }
}

TEST(BucketMemoryTest, AnyOrderOfBatchesGivesTheLargestPlan) {
  const int64_t expected = PlanOfLargestBucketAlone();
  COOPER_ASSERT_OK_AND_ASSIGN(const LmBatches data,
                              MakeLmBatches(kBuckets, 6, kBatchSize, kVocab, 1));
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGenerator random(seed);
    const std::vector<int64_t> order = random.Permutation(6);
    auto model = MakeModel(kBuckets[random.NextBelow(6)]);
    for (int64_t i : order) COOPER_ASSERT_OK(Step(*model, data.batches[i]));
    EXPECT_EQ(model->group()->arena_bytes(), expected);
  }
}

TEST(BucketMemoryTest, PlansAreNearTheirLowerBound) {
  for (const char* cell : {"lstm", "gru", "rnn", "fused"}) {
    // Without the last passes steps are separate nodes, and the plan has more values to place.
    for (const std::set<std::string>& disabled :
         std::vector<std::set<std::string>>{{}, {"rnn_layers"}, {"rnn_layers", "tiles"}}) {
      SCOPED_TRACE(absl::StrCat(cell, " without ", absl::StrJoin(disabled, ", ")));
      for (int64_t bucket : {int64_t{10}, int64_t{60}}) {
        const MemoryReport memory = MakeModel(bucket, cell, disabled)->Report()[0].memory;
        EXPECT_GT(memory.lower_bound, 0);
        EXPECT_LE(memory.planned_bytes, memory.lower_bound * 102 / 100) << bucket;
      }
    }
  }
}

TEST(BucketMemoryTest, StepsAllocateNothing) {
  COOPER_ASSERT_OK_AND_ASSIGN(const LmBatches data,
                              MakeLmBatches(kBuckets, 6, kBatchSize, kVocab, 1));
  for (const char* cell : {"lstm", "gru", "rnn", "fused"}) {
    SCOPED_TRACE(cell);
    auto model = MakeModel(60, cell);
    for (const DataBatch& batch : data.batches) COOPER_ASSERT_OK(Step(*model, batch));
    const int64_t before = HeapAllocations();
    for (int pass = 0; pass < 2; ++pass) {
      for (const DataBatch& batch : data.batches) {
        if (!Step(*model, batch).ok()) FAIL();
      }
    }
    EXPECT_EQ(HeapAllocations() - before, 0);
  }
}

TEST(BucketMemoryTest, TheCounterCounts) {
  const int64_t before = HeapAllocations();
  auto array = std::make_unique<std::vector<int>>(100);
  EXPECT_EQ(HeapAllocations() - before, 2);
  EXPECT_EQ(array->size(), 100u);
}

TEST(BucketMemoryTest, TheDefaultKeyDoesNotChangeTheTraining) {
  COOPER_ASSERT_OK_AND_ASSIGN(const LmBatches data,
                              MakeLmBatches(kBuckets, 12, kBatchSize, kVocab, 3));
  std::vector<float> expected;
  for (int64_t default_key : {int64_t{10}, int64_t{30}, int64_t{60}}) {
    auto model = MakeModel(default_key);
    for (const DataBatch& batch : data.batches) COOPER_ASSERT_OK(Step(*model, batch));
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
    const std::vector<float> weight = *params.args.at("lstm_l1_h2h_weight").ToVector<float>();
    if (expected.empty()) expected = weight;
    EXPECT_EQ(weight, expected) << "default key " << default_key;
  }
}

TEST(BucketMemoryTest, AnEvictedBucketComesBackTheSame) {
  COOPER_ASSERT_OK_AND_ASSIGN(const LmBatches data,
                              MakeLmBatches(kBuckets, 12, kBatchSize, kVocab, 5));
  std::vector<float> expected;
  for (int cap : {0, 1, 2}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const SymGen sym_gen,
        MakeLanguageModel({.vocab = kVocab, .num_embed = 8, .num_hidden = 8, .num_layers = 1}));
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto model, BucketingModule::Create(
                        {.sym_gen = sym_gen, .default_bucket_key = 60, .max_bound_buckets = cap}));
    const BucketShapes shapes = ShapesOf(60);
    COOPER_ASSERT_OK(
        model->Bind({.data_shapes = shapes.data_shapes, .label_shapes = shapes.label_shapes}));
    COOPER_ASSERT_OK(model->InitParams());
    COOPER_ASSERT_OK(model->InitOptimizer());
    for (const DataBatch& batch : data.batches) {
      COOPER_ASSERT_OK(Step(*model, batch));
      if (cap == 0) continue;
      EXPECT_LE(model->Report().size(), static_cast<size_t>(std::max(cap, 2)));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
    const std::vector<float> weight = *params.args.at("lstm_l0_i2h_weight").ToVector<float>();
    if (expected.empty()) expected = weight;
    EXPECT_EQ(weight, expected) << "cap " << cap;
  }
}

}  // namespace
}  // namespace cooper
