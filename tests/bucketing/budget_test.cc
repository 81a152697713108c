// Tests batch sizes that are chosen by a byte budget, with networks of realistic size: the arena
// fits into the budget, and one more sample in any bucket would exceed it.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "module/bucketing/bucket_plan.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kBudgets[] = {64 * kMiB, 128 * kMiB, 256 * kMiB};

// A network, and the input shapes of its buckets for one sample.
struct Case {
  std::string name;
  SymGen sym_gen;
  std::vector<BucketShapes> buckets;
};

BucketShapes Sentences(int64_t length) {
  return {.key = length,
          .data_shapes = {{.name = "data", .shape = {1, length}, .layout = "NT"}},
          .label_shapes = {{.name = "softmax_label", .shape = {1, length}, .layout = "NT"}}};
}

Case LanguageModel(std::string name, const LanguageModelOptions& options) {
  Case c{.name = std::move(name), .sym_gen = MakeLanguageModel(options).value()};
  for (const int64_t length : {10, 20, 30, 40, 50, 60}) c.buckets.push_back(Sentences(length));
  return c;
}

// Returns convolutions over images with a bucket's height and width, and a mean over the result.
Symbol Convolutions(const BucketKey&) {
  Symbol x = Symbol::Variable("data");
  for (const int channels : {32, 64, 128}) {
    const std::string name = "conv" + std::to_string(channels);
    x = op::Convolution(x, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = channels, .name = name});
    x = op::BatchNorm(x, {.fix_gamma = false, .name = name + "_bn"});
    x = op::Activation(x, {.act_type = "relu"});
    x = op::Pooling(x, {.kernel = {2, 2}, .stride = {2, 2}});
  }
  x = op::Pooling(x, {.global_pool = true, .pool_type = "avg"});
  return op::SoftmaxOutput(op::FullyConnected(x, {.num_hidden = 100, .name = "fc"}),
                           {.name = "softmax"});
}

Case Images() {
  Case c{.name = "images", .sym_gen = Convolutions};
  for (const auto& [height, width] : {std::pair(64, 64), {96, 128}, {160, 120}, {224, 224}}) {
    c.buckets.push_back(
        {.key = BucketKey({height, width}),
         .data_shapes = {{.name = "data", .shape = {1, 3, height, width}, .layout = "NCHW"}},
         .label_shapes = {{.name = "softmax_label", .shape = {1}, .layout = "N"}}});
  }
  return c;
}

std::vector<Case> Cases() {
  return {
      LanguageModel("lstm, 10,000 words", {.vocab = 10'000}),
      LanguageModel("gru, both directions", {.vocab = 1000, .cell = "gru", .bidirectional = true}),
      LanguageModel("fused", {.vocab = 2000, .num_hidden = 400, .cell = "fused"}), Images()};
}

BucketShapes WithBatchSize(BucketShapes shapes, int64_t batch_size) {
  for (auto* descs : {&shapes.data_shapes, &shapes.label_shapes}) {
    for (DataDesc& desc : *descs) desc.shape[0] = batch_size;
  }
  return shapes;
}

// Returns the arena's bytes once all buckets are bound in the order of the list.
int64_t ArenaOf(const Case& c, const std::map<BucketKey, int64_t>& sizes, bool run_steps) {
  auto model =
      BucketingModule::Create({.sym_gen = c.sym_gen, .default_bucket_key = c.buckets.front().key})
          .value();
  std::vector<BucketShapes> all;
  for (const BucketShapes& shapes : c.buckets) {
    all.push_back(WithBatchSize(shapes, sizes.at(shapes.key)));
  }
  COOPER_EXPECT_OK(model->Bind(
      {.data_shapes = all.front().data_shapes, .label_shapes = all.front().label_shapes}));
  COOPER_EXPECT_OK(model->PrepareAll(all));
  if (!run_steps) return model->group()->arena_bytes();
  COOPER_EXPECT_OK(model->InitParams());
  COOPER_EXPECT_OK(model->InitOptimizer());
  int64_t peak = 0;
  for (const BucketShapes& shapes : all) {
    COOPER_EXPECT_OK(
        model->ForwardBackward({.data = {NDArray::Zeros(shapes.data_shapes[0].shape).value()},
                                .label = {NDArray::Zeros(shapes.label_shapes[0].shape).value()},
                                .bucket_key = shapes.key}));
    COOPER_EXPECT_OK(model->Update());
    peak = std::max(peak, model->group()->arena_bytes());
  }
  return peak;
}

TEST(BudgetTest, NoBucketCouldHaveALargerBatch) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    COOPER_ASSERT_OK_AND_ASSIGN(auto plan,
                                BucketPlan::Create({.sym_gen = c.sym_gen, .buckets = c.buckets}));
    for (const int64_t budget : kBudgets) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto sizes, plan.LargestBatches(budget));
      std::string text;
      for (const auto& [key, size] : sizes) {
        text += " " + key.ToString() + ": " + std::to_string(size);
        COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes bytes, plan.Bytes(key, size));
        EXPECT_LE(bytes.arena, budget) << key;
        COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes more, plan.Bytes(key, size + 1));
        EXPECT_GT(more.arena, budget) << key;
      }
      // Runs steps for the smallest budget only; larger ones take minutes.
      const bool run_steps = budget == kBudgets[0] && c.name == "fused";
      const int64_t arena = ArenaOf(c, sizes, run_steps);
      EXPECT_LE(arena, budget);
      std::cout << c.name << ", " << budget / kMiB << " MiB: batches" << text << "; arena "
                << static_cast<double>(arena) / kMiB << " MiB\n";
    }
  }
}

}  // namespace
}  // namespace cooper
