// Tests limits on bound buckets, by number and by bytes: memory is bounded and results do not
// change.

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

constexpr int64_t kBatchSize = 2;
constexpr int64_t kVocab = 30;

BucketShapes ShapesOf(int64_t bucket) {
  const Shape shape({kBatchSize, bucket});
  return {.key = bucket,
          .data_shapes = {{.name = "data", .shape = shape, .layout = "NT"}},
          .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}};
}

DataBatch BatchOf(int64_t bucket) {
  RandomGenerator random(bucket);
  std::vector<float> words(kBatchSize * bucket);
  for (float& word : words) word = static_cast<float>(random.NextBelow(kVocab));
  const BucketShapes shapes = ShapesOf(bucket);
  const NDArray array = *NDArray::FromVector<float>({kBatchSize, bucket}, words);
  return {.data = {array},
          .label = {array},
          .bucket_key = bucket,
          .provide_data = shapes.data_shapes,
          .provide_label = shapes.label_shapes};
}

std::unique_ptr<BucketingModule> MakeModel(int64_t default_key, BucketingModuleOptions options) {
  options.sym_gen =
      MakeLanguageModel({.vocab = kVocab, .num_embed = 8, .num_hidden = 8, .num_layers = 1})
          .value();
  options.default_bucket_key = default_key;
  auto model = BucketingModule::Create(std::move(options)).value();
  const BucketShapes shapes = ShapesOf(default_key);
  COOPER_EXPECT_OK(
      model->Bind({.data_shapes = shapes.data_shapes, .label_shapes = shapes.label_shapes}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = init::Uniform(0.1), .seed = 7}));
  COOPER_EXPECT_OK(model->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}}}));
  return model;
}

// Returns the bytes that malloc has in use; 0 under a sanitizer, which has a heap of its own.
int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks) + static_cast<int64_t>(info.hblkhd);
}

// Returns 200 lengths, the eight longest first and the others in random order, twice.
std::vector<int64_t> Lengths() {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 8; ++i) lengths.push_back(200 - i);
  RandomGenerator random(3);
  for (const int64_t i : random.Permutation(192)) lengths.push_back(1 + i);
  for (const int64_t length : {200, 150, 3, 196}) lengths.push_back(length);
  return lengths;
}

struct Trained {
  std::vector<std::vector<float>> outputs;
  std::vector<float> weight;
  int64_t heap_of_eight = 0;  // the most after a step, of the first eight
  int64_t heap_of_all = 0;
  int64_t arena_of_eight = 0;
  int64_t arena_of_all = 0;
};

Trained Train(BucketingModuleOptions options, int64_t max_bytes = 0) {
  Trained trained;
  auto model = MakeModel(200, std::move(options));
  const std::vector<int64_t> lengths = Lengths();
  const int64_t before = HeapBytes();
  for (size_t i = 0; i < lengths.size(); ++i) {
    COOPER_EXPECT_OK(model->ForwardBackward(BatchOf(lengths[i])));
    // Compares the sum of the outputs, which takes little memory.
    trained.outputs.push_back({0, 0});
    const std::vector<float> outputs = *(*model->GetOutputs())[0].ToVector<float>();
    for (const float value : outputs) {
      trained.outputs.back()[0] += value;
      trained.outputs.back()[1] += value * value;
    }
    COOPER_EXPECT_OK(model->Update());
    const int64_t heap = HeapBytes() - before;
    if (i < 8) {
      trained.heap_of_eight = std::max(trained.heap_of_eight, heap);
      trained.arena_of_eight = model->group()->arena_bytes();
    }
    trained.heap_of_all = std::max(trained.heap_of_all, heap);
    if (max_bytes > 0) {
      EXPECT_LE(model->footprint_bytes(), max_bytes) << "step " << i;
    }
  }
  trained.arena_of_all = model->group()->arena_bytes();
  const ModuleParams params = model->GetParams().value();
  trained.weight = *params.args.at("lstm_l0_i2h_weight").ToVector<float>();
  return trained;
}

TEST(CapsTest, TwoHundredKeysUnderACapOfEight) {
  const Trained all = Train({});
  const Trained capped = Train({.max_bound_buckets = 8});
  EXPECT_EQ(capped.outputs, all.outputs);
  EXPECT_EQ(capped.weight, all.weight);
  EXPECT_EQ(capped.arena_of_all, capped.arena_of_eight);
  EXPECT_EQ(capped.arena_of_all, all.arena_of_all);
  // The allowance for memory of a step besides buckets: outputs, staged batches.
  constexpr int64_t kSlack = 64 << 10;
  EXPECT_LE(capped.heap_of_all, capped.heap_of_eight + kSlack);
  if (all.heap_of_all > 0) {
    EXPECT_GT(all.heap_of_all, 4 * capped.heap_of_all);
  }
}

TEST(CapsTest, BytesAreBounded) {
  const Trained all = Train({});
  for (const int64_t max_bytes : {int64_t{6} << 20, int64_t{20} << 20}) {
    const Trained capped = Train({.max_bound_bytes = max_bytes}, max_bytes);
    EXPECT_EQ(capped.outputs, all.outputs);
    EXPECT_EQ(capped.weight, all.weight);
    EXPECT_LE(capped.heap_of_all, max_bytes * 5 / 4);
  }
  // The current bucket stays bound, however small the limit.
  auto model = MakeModel(10, {.max_bound_bytes = 1});
  for (const int64_t length : {20, 5}) {
    COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(length)));
    EXPECT_EQ(model->Report().size(), 1u);
    EXPECT_EQ(*model->current_bucket_key(), BucketKey(length));
  }
}

TEST(CapsTest, TheEstimateIsNearWhatIsMeasured) {
  auto model = MakeModel(200, {});
  for (const int64_t length : {10, 40, 100, 150}) {
    const int64_t before = HeapBytes();
    const std::vector<BucketShapes> shapes = {ShapesOf(length)};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto reports, model->PrepareAll(shapes));
    const int64_t measured = HeapBytes() - before;
    if (measured == 0) GTEST_SKIP() << "the heap is a sanitizer's";
    EXPECT_GE(reports[0].footprint_bytes, measured * 3 / 4) << length;
    EXPECT_LE(reports[0].footprint_bytes, measured * 5 / 4) << length;
  }
}

}  // namespace
}  // namespace cooper
