#include "io/streams/step_plan.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

using Counts = std::vector<HeldCounts>;

TEST(StepPlanTest, ChoosesInOrderWithoutShuffle) {
  const struct {
    const char* what;
    Counts parts;
    int64_t max_steps;
    bool serve_rest;
    std::vector<int> plan;
  } cases[] = {
      {"the first bucket with a full batch", {{{1, 5}}}, 1, false, {1}},
      {"full batches until there is none", {{{4, 5}}}, 9, false, {0, 0, 1}},
      {"no more steps than asked for", {{{4, 5}}}, 2, false, {0, 0}},
      {"no rest while samples are to come", {{{3, 1}}}, 9, true, {0}},
      {"the rest at the end", {{{3, 1}, true}}, 9, true, {0, 0, 1}},
      {"no rest without serve_rest", {{{3, 1}, true}}, 9, false, {0}},
      {"nothing", {{{0, 0}, true}}, 9, true, {}},
      {"a bucket that both parts have before one that one part has",
       {{{2, 4}}, {{0, 4}}},
       9,
       true,
       {1}},
      {"a bucket of one part, if that is the best first step", {{{2, 0}}, {{0, 4}}}, 9, true, {0}},
      {"a part at its end is not waited for", {{{4, 0}}, {{1, 1}, true}}, 9, true, {0, 0}},
      {"the rests of both", {{{1, 0}, true}, {{1, 1}, true}}, 9, true, {0, 1}},
  };
  for (const auto& c : cases) {
    RandomGenerator random;
    EXPECT_EQ(PlanSteps(c.parts,
                        {.batch_sizes = {2, 4},
                         .max_steps = c.max_steps,
                         .shuffle = false,
                         .serve_rest = c.serve_rest},
                        &random),
              c.plan)
        << c.what;
    EXPECT_EQ(random.state().position, 0);
  }
}

TEST(StepPlanTest, DrawsBucketsByTheirFullBatches) {
  RandomGenerator random(1);
  int first = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<int> plan =
        PlanSteps(Counts{{{3, 9}}}, {.batch_sizes = {1, 1}, .shuffle = true}, &random);
    ASSERT_EQ(plan.size(), 1);
    first += plan[0] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, kDraws / 4, 5 * 27.4);  // five standard deviations
}

TEST(StepPlanTest, CountsHaveATextForm) {
  const HeldCounts counts = {.samples = {3, 0, 12}, .at_end = true};
  EXPECT_EQ(counts.ToString(), "1,3,0,12");
  COOPER_ASSERT_OK_AND_ASSIGN(const HeldCounts parsed, HeldCounts::Parse("1,3,0,12", 3));
  EXPECT_EQ(parsed.samples, counts.samples);
  EXPECT_TRUE(parsed.at_end);
  for (const char* text : {"", "1,3,0", "1,3,0,12,4", "2,3,0,12", "1,3,-1,12", "1,3,x,12"}) {
    EXPECT_THAT(HeldCounts::Parse(text, 3), StatusIs(absl::StatusCode::kInvalidArgument,
                                                     HasSubstr("are not the counts of 3 buckets")))
        << text;
  }
}

}  // namespace
}  // namespace cooper
