// Tests the stacked arrays of all steps: the array that they were split from, or a concatenation.

#include "executor/passes/graph/step_stacker.h"

#include <string>
#include <vector>

#include "executor/passes/graph/facts_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

Symbol Split(const Symbol& whole, const char* axis, int steps = 3) {
  return Op("SliceChannel", {.inputs = {whole},
                             .attrs = {{"axis", axis},
                                       {"num_outputs", std::to_string(steps)},
                                       {"squeeze_axis", "True"}}});
}

std::vector<NodeEntry> Entries(const std::vector<Symbol>& symbols) {
  std::vector<NodeEntry> entries;
  entries.reserve(symbols.size());
  for (const Symbol& symbol : symbols) entries.push_back(EntryOf(symbol));
  return entries;
}

const Symbol kWhole = Symbol::Variable("whole");

TEST(StepStackerTest, StepsOfAWholeAreTheWhole) {
  StepStacker stacker;
  const Symbol by_time = Split(kWhole, "0");
  COOPER_ASSERT_OK_AND_ASSIGN(NodeEntry stacked, stacker.StackSplitSteps(by_time.outputs()));
  EXPECT_EQ(stacked, EntryOf(kWhole));
  const Symbol by_batch = Split(kWhole, "1");
  COOPER_ASSERT_OK_AND_ASSIGN(stacked, stacker.StackSplitSteps(by_batch.outputs()));
  EXPECT_TRUE(IsOp(*stacked.node, "SwapAxis"));
  EXPECT_EQ(stacked.node->inputs()[0], EntryOf(kWhole));
  COOPER_ASSERT_OK_AND_ASSIGN(const NodeEntry again, stacker.StackSplitSteps(by_batch.outputs()));
  EXPECT_EQ(again, stacked) << "what has been stacked once is found again";
}

TEST(StepStackerTest, StepsInTheOtherOrderAreTheReverse) {
  StepStacker stacker;
  const Symbol s = Split(kWhole, "0");
  COOPER_ASSERT_OK_AND_ASSIGN(const NodeEntry stacked,
                              stacker.StackSplitSteps(Entries({s[2], s[1], s[0]})));
  EXPECT_TRUE(IsOp(*stacked.node, "reverse"));
  EXPECT_EQ(stacked.node->inputs()[0], EntryOf(kWhole));
}

TEST(StepStackerTest, SumsAndConcatenationsAreOfWholes) {
  StepStacker stacker;
  const Symbol a = Split(kWhole, "0");
  const Symbol b = Split(Symbol::Variable("b"), "0");
  std::vector<Symbol> sums, joined;
  for (int t = 0; t < 3; ++t) {
    sums.push_back(Op("elemwise_add", {.inputs = {a[t], b[t]}}));
    joined.push_back(Op("Concat", {.inputs = {a[t], b[2 - t]}, .attrs = {{"dim", "1"}}}));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(NodeEntry stacked, stacker.StackSplitSteps(Entries(sums)));
  EXPECT_TRUE(IsOp(*stacked.node, "elemwise_add"));
  EXPECT_EQ(stacked.node->inputs()[0], EntryOf(kWhole));
  COOPER_ASSERT_OK_AND_ASSIGN(stacked, stacker.StackSplitSteps(Entries(joined)));
  EXPECT_TRUE(IsOp(*stacked.node, "Concat"));
  EXPECT_EQ(stacked.node->attrs().at("dim"), "2") << "the axis behind the new one";
  EXPECT_TRUE(IsOp(*stacked.node->inputs()[1].node, "reverse"));
}

TEST(StepStackerTest, OthersAreNotOfAWhole) {
  const Symbol a = Split(kWhole, "0");
  const Symbol b = Split(Symbol::Variable("b"), "0");
  const Symbol features = Split(kWhole, "2");
  const std::vector<Symbol> cases[] = {
      {a[0], a[1]},        // some of its steps
      {a[0], a[2], a[1]},  // in another order
      {a[0], a[1], b[2]},  // from two arrays
      {features[0], features[1], features[2]},
      {Op("tanh", {.inputs = {a[0]}}), Op("tanh", {.inputs = {a[1]}})},
      {Op("elemwise_add", {.inputs = {a[0], a[0]}}), Op("elemwise_mul", {.inputs = {a[1], a[1]}})},
      // Operands may have fewer axes than the result.
      {Op("broadcast_add", {.inputs = {a[0], b[0]}}), Op("broadcast_add", {.inputs = {a[1], b[1]}}),
       Op("broadcast_add", {.inputs = {a[2], b[2]}})},
  };
  for (const std::vector<Symbol>& steps : cases) {
    StepStacker stacker;
    COOPER_ASSERT_OK_AND_ASSIGN(NodeEntry stacked, stacker.StackSplitSteps(Entries(steps)));
    EXPECT_FALSE(stacked) << stacked.node->name();
    COOPER_ASSERT_OK_AND_ASSIGN(stacked, stacker.Stack(Entries(steps), /*features=*/5));
    EXPECT_TRUE(IsOp(*stacked.node, "Reshape"));
    EXPECT_EQ(stacked.node->attrs().at("shape"), "(" + std::to_string(steps.size()) + ", -1, 5)");
    const Node& joined = *stacked.node->inputs()[0].node;
    EXPECT_TRUE(IsOp(joined, "Concat"));
    EXPECT_EQ(joined.inputs(), Entries(steps));
  }
}

TEST(StepStackerTest, SumsMayBeAsDeepAsGraphs) {
  constexpr int kDepth = 50'000;
  for (const bool split : {true, false}) {
    const Symbol whole = Split(kWhole, "0", 2);
    const Symbol other = Split(Symbol::Variable("b"), "0", 2);
    std::vector<Symbol> steps = {split ? whole[0] : kWhole, whole[1]};
    for (int i = 0; i < kDepth; ++i) {
      for (int t = 0; t < 2; ++t) {
        steps[t] = Op("elemwise_add", {.name = "sum", .inputs = {steps[t], other[t]}});
      }
    }
    StepStacker stacker;
    COOPER_ASSERT_OK_AND_ASSIGN(const NodeEntry stacked, stacker.StackSplitSteps(Entries(steps)));
    EXPECT_EQ(static_cast<bool>(stacked), split);
    if (split) {
      EXPECT_TRUE(IsOp(*stacked.node, "elemwise_add"));
    }
  }
}

TEST(StepStackerTest, OneStepIsReshapedAlone) {
  StepStacker stacker;
  COOPER_ASSERT_OK_AND_ASSIGN(const NodeEntry stacked, stacker.Stack({EntryOf(kWhole)}, 5));
  EXPECT_TRUE(IsOp(*stacked.node, "Reshape"));
  EXPECT_EQ(stacked.node->inputs()[0], EntryOf(kWhole));
}

}  // namespace
}  // namespace cooper
