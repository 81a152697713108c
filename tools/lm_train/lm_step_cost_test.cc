#include "tools/lm_train/lm_step_cost.h"

#include <functional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_boundaries.h"
#include "ndarray/base/status_matchers.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

SymGen SmallModel(bool use_lengths) {
  return MakeLanguageModel({.vocab = 40,
                            .num_embed = 8,
                            .num_hidden = 8,
                            .num_layers = 1,
                            .use_lengths = use_lengths})
      .value();
}

// The cost is proportional to the number of words, except for gradients of weights, which each step
// writes once, and that of the first state, which is never computed.
TEST(LmStepCostTest, RisesAsTheLengthDoes) {
  for (const bool use_lengths : {false, true}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto cost, LmStepCost({.sym_gen = SmallModel(use_lengths),
                                                             .use_lengths = use_lengths,
                                                             .batch_size = 4,
                                                             .longest = 30}));
    EXPECT_DOUBLE_EQ(cost(30), 30);
    EXPECT_NEAR(cost(1), 1, 0.5);
    for (int length = 2; length <= 30; ++length) {
      EXPECT_NEAR(cost(length) - cost(length - 1), 1, 0.1) << length;
    }
    COOPER_ASSERT_OK_AND_ASSIGN(
        const BucketBoundaries best,
        ChooseBuckets({5, 5, 5, 10, 30, 30}, {.max_buckets = 2, .step_cost = cost}));
    EXPECT_EQ(best.buckets, (std::vector<int64_t>{10, 30}));
  }
}

TEST(LmStepCostTest, TellsWhatIsWrong) {
  EXPECT_THAT(LmStepCost({.sym_gen = SmallModel(false), .longest = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("longest 1")));
}

}  // namespace
}  // namespace cooper
