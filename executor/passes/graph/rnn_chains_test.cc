// Tests which steps are found in a graph, and how they are joined.

#include "executor/passes/graph/rnn_chains.h"

#include <memory>
#include <vector>

#include "executor/passes/graph/facts_fixtures.h"
#include "executor/passes/graph/rnn_cell_matcher.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

struct CellCase {
  RNNMode mode;
  std::shared_ptr<BaseRNNCell> cell;
  size_t nodes;  // per step
};

std::vector<CellCase> Cells() {
  return {
      {RNNMode::kLstm, std::make_shared<LSTMCell>(4), 13},
      {RNNMode::kGru, std::make_shared<GRUCell>(4), 15},
      {RNNMode::kRnnTanh, std::make_shared<RNNCell>(4), 4},
      {RNNMode::kRnnRelu, std::make_shared<RNNCell>(4, RNNCellOptions{.activation = "relu"}), 4}};
}

const KnownShapes kShapes = {{"x0", {2, 5}}, {"x1", {2, 5}}, {"x2", {2, 5}}};

std::vector<Symbol> Inputs() {
  return {Symbol::Variable("x0"), Symbol::Variable("x1"), Symbol::Variable("x2")};
}

TEST(RNNCellMatcherTest, NamesTheArraysOfEveryStep) {
  for (const CellCase& c : Cells()) {
    SCOPED_TRACE(static_cast<int>(c.mode));
    const std::vector<Symbol> inputs = Inputs();
    COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled net,
                                c.cell->Unroll(3, inputs, {.merge_outputs = false}));
    const std::vector<Symbol> steps = net.outputs.steps();
    const GraphFacts facts = FactsOf(*Symbol::Group(steps), kShapes);
    const std::vector<RNNCellMatch> cells = FindRNNCells(facts);
    ASSERT_EQ(cells.size(), 3u);
    for (int t = 0; t < 3; ++t) {
      EXPECT_EQ(cells[t].mode, c.mode);
      EXPECT_EQ(cells[t].hidden, 4);
      EXPECT_EQ(cells[t].h, EntryOf(steps[t]));
      EXPECT_EQ(cells[t].i2h.data, EntryOf(inputs[t]));
      EXPECT_EQ(cells[t].h2h.weight, EntryOf(c.cell->params()->Get("h2h_weight")));
      EXPECT_EQ(cells[t].i2h.bias, EntryOf(c.cell->params()->Get("i2h_bias")));
      EXPECT_EQ(cells[t].nodes.size(), c.nodes);
      if (t == 0) continue;
      EXPECT_EQ(cells[t].h2h.data, cells[t - 1].h);
      if (c.mode == RNNMode::kLstm) {
        EXPECT_EQ(cells[t].c_prev, cells[t - 1].c);
      }
    }
  }
}

// A node other than h and c has outside users.
TEST(RNNCellMatcherTest, StepsWithOtherUsersAreNone) {
  for (const CellCase& c : Cells()) {
    SCOPED_TRACE(static_cast<int>(c.mode));
    COOPER_ASSERT_OK_AND_ASSIGN(
        const Unrolled net,
        c.cell->Unroll(1, std::vector<Symbol>{Symbol::Variable("x0")}, {.merge_outputs = false}));
    const Symbol h = net.outputs.steps()[0];
    const std::vector<NodeEntry> inner = h.GetInternals().outputs();
    size_t found = 0;
    for (const NodeEntry& e : inner) {
      if (e.node->is_variable() || IsOp(*e.node, "_zeros")) continue;
      const GraphFacts facts = FactsOf(*Symbol::Group({h, Symbol({e})}), kShapes);
      found += FindRNNCells(facts).size();
    }
    // h or c is the other output.
    EXPECT_EQ(found, c.mode == RNNMode::kLstm ? 2u : 1u);
  }
}

// Returns the chains of a graph.
std::vector<RNNChain> Chains(const Symbol& symbol, const KnownShapes& known = kShapes) {
  const GraphFacts facts = FactsOf(symbol, known);
  std::vector<RNNCellMatch> cells = FindRNNCells(facts);
  return ChainRNNCells(facts, cells);
}

TEST(RNNChainsTest, StepsOfALayerAreOneChain) {
  for (const CellCase& c : Cells()) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled net,
                                c.cell->Unroll(3, Inputs(), {.merge_outputs = false}));
    EXPECT_THAT(Chains(*Symbol::Group(net.outputs.steps())), ElementsAre(ElementsAre(0, 1, 2)));
  }
}

// The data of step 2 is the output of step 1.
TEST(RNNChainsTest, DataOfEarlierStepsCutsAChain) {
  for (const CellCase& c : Cells()) {
    c.cell->Reset();
    COOPER_ASSERT_OK_AND_ASSIGN(std::vector<Symbol> states, c.cell->BeginState(VariableStates()));
    const Symbol x = Symbol::Variable("x");
    Symbol input = x;
    for (int t = 0; t < 3; ++t) {
      COOPER_ASSERT_OK_AND_ASSIGN(StepResult step, c.cell->Step(input, states));
      states = step.states;
      input = t == 1 ? Op("tanh", {.inputs = {step.output}}) : x;
    }
    EXPECT_THAT(Chains(states[0], {{"x", {2, 4}}}), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  }
}

// A cell state with other users must exist after its step.
TEST(RNNChainsTest, ACellStateThatIsUsedEndsItsChain) {
  LSTMCell cell(4);
  COOPER_ASSERT_OK_AND_ASSIGN(std::vector<Symbol> states, cell.BeginState(VariableStates()));
  const Symbol x = Symbol::Variable("x");
  std::vector<Symbol> outputs;
  for (int t = 0; t < 3; ++t) {
    COOPER_ASSERT_OK_AND_ASSIGN(StepResult step, cell.Step(x, states));
    states = step.states;
    if (t == 1) outputs.push_back(Op("tanh", {.inputs = {states[1]}}));
  }
  outputs.push_back(states[0]);
  EXPECT_THAT(Chains(*Symbol::Group(outputs), {{"x", {2, 5}}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

}  // namespace
}  // namespace cooper
