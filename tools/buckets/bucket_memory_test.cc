#include "tools/buckets/bucket_memory.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucket_plan.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/nn.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SymGen SmallModel() {
  return MakeLanguageModel({.vocab = 30, .num_embed = 4, .num_hidden = 6, .num_layers = 1}).value();
}

// Compares with BucketPlan for the shapes that result from replacing the letters.
TEST(BucketMemoryTest, IsThatOfThePlan) {
  for (const bool training : {true, false}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketMemory memory,
                                PlanBucketMemory({.sym_gen = SmallModel(),
                                                  .shapes = "data: N,T; softmax_label:N,T",
                                                  .batch_size = 5,
                                                  .training = training},
                                                 {{3}, {8}}));
    BucketPlanOptions options = {.sym_gen = SmallModel(), .bind = {.for_training = training}};
    for (const int64_t length : {3, 8}) {
      options.buckets.push_back(
          {.key = length,
           .data_shapes = {{.name = "data", .shape = {5, length}, .layout = "NT"}},
           .label_shapes = {{.name = "softmax_label", .shape = {5, length}, .layout = "NT"}}});
    }
    COOPER_ASSERT_OK_AND_ASSIGN(BucketPlan plan, BucketPlan::Create(std::move(options)));
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes shorter, plan.Bytes(3, 5));
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketBytes longer, plan.Bytes(8, 5));
    EXPECT_THAT(memory.planned, ElementsAre(shorter.arena, longer.arena));
    EXPECT_EQ(memory.arena, longer.arena);
    EXPECT_EQ(memory.inputs, 2 * 4 * 8 * 5);
    EXPECT_EQ(memory.parameters, longer.parameters);
  }
}

TEST(BucketMemoryTest, TakesPairsAndOtherExtents) {
  const Symbol net = op::FullyConnected(Symbol::Variable("data"),
                                        {.num_hidden = 2, .no_bias = true, .name = "fc"});
  const BucketMemoryOptions options = {.sym_gen = [net](const BucketKey&) { return net; },
                                       .shapes = "data:N,3,T,U",
                                       .batch_size = 4};
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketMemory memory, PlanBucketMemory(options, {{5, 7}}));
  EXPECT_EQ(memory.inputs, 4 * 4 * 3 * 5 * 7);
  EXPECT_EQ(memory.parameters, 2 * 4 * 2 * 3 * 5 * 7);
}

TEST(BucketMemoryTest, TellsWhatIsWrong) {
  const auto error = [](const std::string& shapes, const char* words) {
    EXPECT_THAT(PlanBucketMemory({.sym_gen = SmallModel(), .shapes = shapes}, {{3}}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words)));
  };
  error("", "expected N, the batch size");
  error("data:5,T", "expected N, the batch size");
  error("data:N,U", "U, which only pairs have");
  error("data:N,x", "expected a name, a colon and extents");
  error("data:N,?", "'data' has an unknown extent");
  error("data:N,T;softmax_label", "softmax_label': expected a name, a colon");
  error("data:N,4;softmax_label:N,T", "bucket key 3");
}

}  // namespace
}  // namespace cooper
