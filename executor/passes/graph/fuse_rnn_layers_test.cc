// Checks that networks bound with and without the pass compute the same, and have the expected
// layers.

#include "executor/passes/graph/fuse_rnn_layers.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/dropout_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/residual_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/zoneout_cell.h"

namespace cooper {
namespace {

Symbol Op(const char* op, std::vector<Symbol> inputs, AttrMap attrs = {}) {
  return Op(op, OpArgs{.inputs = std::move(inputs), .attrs = std::move(attrs)});
}

// Returns how often a program runs the operator.
int Count(const Executor& executor, const std::string& op) {
  const std::string text = executor.DebugString();
  int count = 0;
  for (size_t at = text.find("\n" + op + " "); at != std::string::npos;
       at = text.find("\n" + op + " ", at + 1)) {
    ++count;
  }
  return count + (text.rfind(op + " ", 0) == 0 ? 1 : 0);
}

// The expected result of the pass.
struct Expected {
  int layers = 0;  // the number of _rnn_layer nodes
};

// Binds `symbol` with data (batch, length, features) and compares outputs and gradients of a run
// with the pass and a run without it.
void ExpectSame(const Symbol& symbol, const KnownShapes& shapes, const Expected& expected,
                WriteReq req = WriteReq::kWrite, bool is_train = true) {
  std::vector<std::unique_ptr<Executor>> executors;
  for (const bool fuse : {true, false}) {
    BindOptions options{.shapes = shapes, .grad_req = req};
    if (!fuse) options.disabled_passes = {"rnn_layers"};
    auto bound = Executor::SimpleBind(symbol, options);
    ASSERT_TRUE(bound.ok()) << bound.status();
    executors.push_back(*std::move(bound));
  }
  Executor& fused = *executors[0];
  Executor& plain = *executors[1];
  EXPECT_EQ(Count(fused, "_rnn_layer"), expected.layers) << fused.DebugString();
  EXPECT_EQ(Count(plain, "_rnn_layer"), 0);
  ASSERT_EQ(fused.arg_names(), plain.arg_names());
  ASSERT_EQ(fused.arg_shapes(), plain.arg_shapes());
  ASSERT_EQ(fused.output_names(), plain.output_names());
  uint64_t seed = 1;
  for (const std::string& name : fused.arg_names()) {
    FillRandom(fused.arg(name), seed++);
    COOPER_ASSERT_OK(plain.arg(name).CopyFrom(fused.arg(name)));
    if (fused.grad(name).is_null()) continue;
    COOPER_ASSERT_OK(fused.grad(name).Fill(0.25));
    COOPER_ASSERT_OK(plain.grad(name).Fill(0.25));
  }
  std::vector<std::vector<NDArray>> outputs;
  for (auto& executor : executors) {
    COOPER_ASSERT_OK(executor->Forward(is_train));
    outputs.emplace_back();
    COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, executor->outputs());
    for (const NDArray& array : arrays) outputs.back().push_back(*array.Copy());
    if (!is_train) continue;
    std::vector<NDArray> heads;
    for (size_t i = 0; i < arrays.size(); ++i) {
      heads.push_back(*NDArray::Empty(executor->output_shapes()[i]));
      FillRandom(heads.back(), 1000 + i);
    }
    COOPER_ASSERT_OK(executor->Backward(heads));
  }
  auto expect_near = [](const NDArray& a, const NDArray& b, const std::string& what) {
    ASSERT_EQ(a.shape(), b.shape()) << what;
    const std::vector<float> x = *a.ToVector<float>();
    const std::vector<float> y = *b.ToVector<float>();
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(x[i], y[i], 2e-5 * (1 + std::abs(y[i]))) << what << " at " << i;
    }
  };
  for (size_t i = 0; i < outputs[0].size(); ++i) {
    expect_near(outputs[0][i], outputs[1][i], fused.output_names()[i]);
  }
  if (!is_train) return;
  for (const auto& [name, grad] : fused.grad_dict()) expect_near(grad, plain.grad(name), name);
}

using CellPtr = std::shared_ptr<BaseRNNCell>;

CellPtr Cell(const std::string& kind, const std::string& prefix, int64_t hidden) {
  if (kind == "lstm") {
    return std::make_shared<LSTMCell>(hidden, LSTMCellOptions{.prefix = prefix});
  }
  if (kind == "gru") return std::make_shared<GRUCell>(hidden, GRUCellOptions{.prefix = prefix});
  return std::make_shared<RNNCell>(
      hidden, RNNCellOptions{.activation = kind == "relu" ? "relu" : "tanh", .prefix = prefix});
}

Symbol Unroll(BaseRNNCell& cell, int length, const UnrollOptions& options = {},
              const Symbol& data = Symbol::Variable("data")) {
  auto unrolled = cell.Unroll(length, data, options);
  EXPECT_TRUE(unrolled.ok()) << unrolled.status();
  if (unrolled->outputs.is_merged()) return unrolled->outputs.merged();
  return *Symbol::Group(unrolled->outputs.steps());
}

class KindTest : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Kinds, KindTest, ::testing::Values("lstm", "gru", "tanh", "relu"));

TEST_P(KindTest, StackedLayers) {
  for (const int length : {2, 5}) {
    for (const char* layout : {"NTC", "TNC"}) {
      for (const bool merge : {true, false}) {
        SequentialRNNCell stack;
        COOPER_ASSERT_OK(stack.Add(Cell(GetParam(), "a_", 4)));
        COOPER_ASSERT_OK(stack.Add(Cell(GetParam(), "b_", 6)));
        const Symbol net = Unroll(stack, length, {.layout = layout, .merge_outputs = merge});
        const PartialShape shape =
            layout[0] == 'N' ? PartialShape{3, length, 5} : PartialShape{length, 3, 5};
        ExpectSame(net, {{"data", shape}}, {.layers = 2});
      }
    }
  }
}

TEST_P(KindTest, OneStep) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  const bool plain = GetParam() == "tanh" || GetParam() == "relu";
  ExpectSame(Unroll(*cell, 1, {.merge_outputs = true}), {{"data", {3, 1, 5}}},
             {.layers = plain ? 0 : 1});
}

TEST_P(KindTest, AddedGradientsAndPrediction) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  const Symbol net = Unroll(*cell, 4, {.merge_outputs = true});
  ExpectSame(net, {{"data", {3, 4, 5}}}, {.layers = 1}, WriteReq::kAdd);
  ExpectSame(net, {{"data", {3, 4, 5}}}, {.layers = 1}, WriteReq::kNull, /*is_train=*/false);
}

TEST_P(KindTest, BothDirections) {
  SequentialRNNCell stack;
  for (const char* layer : {"a_", "b_"}) {
    COOPER_ASSERT_OK(stack.Add(
        std::make_shared<BidirectionalCell>(Cell(GetParam(), absl::StrCat(layer, "l_"), 4),
                                            Cell(GetParam(), absl::StrCat(layer, "r_"), 4),
                                            BidirectionalCellOptions{.output_prefix = layer})));
  }
  for (const bool merge : {true, false}) {
    ExpectSame(Unroll(stack, 3, {.merge_outputs = merge}), {{"data", {2, 3, 5}}}, {.layers = 4});
  }
}

// The first layer has as many features as its input, as a residual connection requires.
TEST_P(KindTest, ResidualConnections) {
  SequentialRNNCell stack;
  COOPER_ASSERT_OK(stack.Add(std::make_shared<ResidualCell>(Cell(GetParam(), "a_", 4))));
  COOPER_ASSERT_OK(stack.Add(std::make_shared<ResidualCell>(Cell(GetParam(), "b_", 4))));
  for (const bool merge : {true, false}) {
    ExpectSame(Unroll(stack, 3, {.merge_outputs = merge}), {{"data", {2, 3, 4}}}, {.layers = 2});
  }
}

TEST_P(KindTest, FirstAndLastStatesOfTheCallers) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<Symbol> begin, cell->BeginState(VariableStates()));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Unrolled unrolled,
      cell->Unroll(3, Symbol::Variable("data"), {.begin_state = begin, .merge_outputs = true}));
  std::vector<Symbol> outputs = unrolled.states;
  outputs.push_back(unrolled.outputs.merged());
  ExpectSame(*Symbol::Group(outputs), {{"data", {2, 3, 5}}}, {.layers = 1});
}

// Dropout between the layers draws the same numbers, wherever it is in the program.
TEST_P(KindTest, DropoutBetweenLayers) {
  SequentialRNNCell stack;
  COOPER_ASSERT_OK(stack.Add(Cell(GetParam(), "a_", 4)));
  COOPER_ASSERT_OK(stack.Add(std::make_shared<DropoutCell>(0.5)));
  COOPER_ASSERT_OK(stack.Add(Cell(GetParam(), "b_", 4)));
  ExpectSame(Unroll(stack, 3, {.merge_outputs = true}), {{"data", {2, 3, 5}}}, {.layers = 2});
}

// Zoneout stands between the state of a step and the next step.
TEST_P(KindTest, StatesThatAreChangedBetweenSteps) {
  ZoneoutCell cell(Cell(GetParam(), "a_", 4), {.zoneout_outputs = 0.3, .zoneout_states = 0.3});
  const bool plain = GetParam() == "tanh" || GetParam() == "relu";
  ExpectSame(Unroll(cell, 3, {.merge_outputs = true}), {{"data", {2, 3, 5}}},
             {.layers = plain ? 0 : 3});
}

// A decoder: each step's data depends on the output of the step before.
TEST_P(KindTest, StepsThatAreFedTheirOutput) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(std::vector<Symbol> states, cell->BeginState(VariableStates()));
  Symbol input = Symbol::Variable("data");
  std::vector<Symbol> outputs;
  for (int t = 0; t < 3; ++t) {
    COOPER_ASSERT_OK_AND_ASSIGN(StepResult step, cell->Step(input, states));
    outputs.push_back(step.output);
    states = step.states;
    input = Op("tanh", {step.output});
  }
  const bool plain = GetParam() == "tanh" || GetParam() == "relu";
  ExpectSame(*Symbol::Group(outputs), {{"data", {2, 4}}}, {.layers = plain ? 0 : 3});
}

// Two layers, each of which takes the last output of the other: either one can be a chain, but not
// both.
TEST_P(KindTest, LayersThatWaitForEachOther) {
  const CellPtr a = Cell(GetParam(), "a_", 4);
  const CellPtr b = Cell(GetParam(), "b_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(std::vector<Symbol> a_states, a->BeginState(VariableStates()));
  COOPER_ASSERT_OK_AND_ASSIGN(std::vector<Symbol> b_states, b->BeginState(VariableStates()));
  COOPER_ASSERT_OK_AND_ASSIGN(StepResult a1, a->Step(Symbol::Variable("data"), a_states));
  COOPER_ASSERT_OK_AND_ASSIGN(StepResult b1, b->Step(Symbol::Variable("other"), b_states));
  COOPER_ASSERT_OK_AND_ASSIGN(StepResult a2, a->Step(Op("relu", {b1.output}), a1.states));
  COOPER_ASSERT_OK_AND_ASSIGN(StepResult b2, b->Step(Op("relu", {a1.output}), b1.states));
  const bool plain = GetParam() == "tanh" || GetParam() == "relu";
  // One of the two remains a chain, the other is split into steps.
  ExpectSame(*Symbol::Group({a2.output, b2.output}), {{"data", {2, 4}}, {"other", {2, 4}}},
             {.layers = plain ? 1 : 3});
}

TEST(FuseRNNLayersTest, OperandsInTheOtherOrder) {
  const Symbol data = Symbol::Variable("data");
  Symbol h = Symbol::Variable("h0");
  Symbol c = Symbol::Variable("c0");
  const Symbol wx = Symbol::Variable("wx"), bx = Symbol::Variable("bx");
  const Symbol wh = Symbol::Variable("wh"), bh = Symbol::Variable("bh");
  const Symbol steps = Op("SliceChannel", {data}, {{"num_outputs", "3"}, {"squeeze_axis", "1"}});
  std::vector<Symbol> outputs;
  for (int t = 0; t < 3; ++t) {
    const Symbol hp = Op("FullyConnected", {h, wh, bh}, {{"num_hidden", "16"}});
    const Symbol xp = Op("FullyConnected", {steps[t], wx, bx}, {{"num_hidden", "16"}});
    const Symbol gates = Op("SliceChannel", {Op("elemwise_add", {hp, xp})}, {{"num_outputs", "4"}});
    const Symbol i = Op("sigmoid", {gates[0]}), f = Op("sigmoid", {gates[1]});
    const Symbol g = Op("tanh", {gates[2]}), o = Op("sigmoid", {gates[3]});
    c = Op("elemwise_add", {Op("elemwise_mul", {g, i}), Op("elemwise_mul", {c, f})});
    h = Op("elemwise_mul", {Op("tanh", {c}), o});
    outputs.push_back(Op("expand_dims", {h}, {{"axis", "1"}}));
  }
  // The input has as many features as the state, so shapes do not distinguish the products.
  ExpectSame(Op("Concat", outputs, {{"dim", "1"}}), {{"data", {2, 3, 4}}, {"h0", {2, 4}}},
             {.layers = 1});
}

TEST(FuseRNNLayersTest, AMonitorSeesTheGraphAsItWasWritten) {
  const CellPtr cell = Cell("lstm", "a_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(Unroll(*cell, 3, {.merge_outputs = true}),
                                                   {.shapes = {{"data", {2, 3, 5}}}}));
  uint64_t seed = 1;
  for (const auto& [name, array] : executor->arg_dict()) FillRandom(array, seed++);
  std::vector<std::vector<float>> outputs;
  std::vector<std::string> names;
  for (const bool monitored : {false, true, false}) {
    names.clear();
    if (monitored) {
      executor->SetMonitorCallback(
          [&](const std::string& name, const NDArray&) { names.push_back(name); });
    } else {
      executor->SetMonitorCallback({});
    }
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, executor->outputs());
    outputs.push_back(Floats(arrays[0]));
    COOPER_ASSERT_OK(executor->Backward({arrays[0]}));
    EXPECT_EQ(Count(*executor, "_rnn_layer"), monitored ? 0 : 1);
    if (monitored) {
      EXPECT_THAT(names, ::testing::IsSupersetOf({"a_t0_i2h_output", "a_t2_out_output"}));
    }
  }
  EXPECT_EQ(outputs[0], outputs[2]);
  EXPECT_THAT(outputs[1], ::testing::Pointwise(::testing::FloatNear(1e-6), outputs[0]));
}

// A step whose state is changed, but whose input is the unchanged output of the step before. The
// step after it shows which product has the state.
TEST_P(KindTest, AStepThatTakesTheLastOutputAsItsInput) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<Symbol> begin, cell->BeginState(VariableStates()));
  const Symbol data = Symbol::Variable("data");
  COOPER_ASSERT_OK_AND_ASSIGN(const StepResult first, cell->Step(data, begin));
  std::vector<Symbol> states = first.states;
  states[0] = Op("tanh", {first.output});
  COOPER_ASSERT_OK_AND_ASSIGN(const StepResult second, cell->Step(first.output, states));
  COOPER_ASSERT_OK_AND_ASSIGN(const StepResult third, cell->Step(data, second.states));
  const bool plain = GetParam() == "tanh" || GetParam() == "relu";
  ExpectSame(third.output, {{"data", {2, 4}}}, {.layers = plain ? 1 : 2});
}

// The input of the first step is zeros whose batch size is inferred from the other steps.
TEST_P(KindTest, ADecoderThatStartsFromZeros) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  const Symbol rest = Op("SliceChannel", {Symbol::Variable("data")},
                         {{"axis", "1"}, {"num_outputs", "2"}, {"squeeze_axis", "1"}});
  const Symbol zeros = Op("_zeros", {}, {{"shape", "(0, 5)"}});
  COOPER_ASSERT_OK_AND_ASSIGN(std::vector<Symbol> states, cell->BeginState());
  std::vector<Symbol> outputs;
  for (const Symbol& input : {zeros, rest[0], rest[1]}) {
    COOPER_ASSERT_OK_AND_ASSIGN(StepResult step, cell->Step(input, states));
    outputs.push_back(step.output);
    states = step.states;
  }
  ExpectSame(*Symbol::Group(outputs), {{"data", {3, 2, 5}}}, {.layers = 1});
}

// Sums and products that share operands, over many layers.
TEST_P(KindTest, ADeepStackOfGatedResiduals) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled first,
                              cell->Unroll(2, Symbol::Variable("data"), {.merge_outputs = false}));
  std::vector<Symbol> steps = first.outputs.steps();
  for (int level = 0; level < 40; ++level) {
    for (Symbol& step : steps) {
      step = Op("elemwise_add", {step, Op("elemwise_mul", {step, step})});
    }
  }
  const CellPtr above = Cell(GetParam(), "b_", 4);
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled unrolled,
                              above->Unroll(2, steps, {.merge_outputs = true}));
  BindOptions options{.shapes = {{"data", {3, 2, 5}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(unrolled.outputs.merged(), options));
  EXPECT_EQ(Count(*executor, "_rnn_layer"), 2);
  EXPECT_EQ(Count(*executor, "elemwise_mul"), 3 * 40) << "one, and two in its gradient";
}

TEST_P(KindTest, InputsWithoutFeatures) {
  for (const bool is_train : {true, false}) {
    const CellPtr cell = Cell(GetParam(), "a_", 4);
    const std::vector<Symbol> steps = {Symbol::Variable("x0"), Symbol::Variable("x1")};
    COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled unrolled,
                                cell->Unroll(2, steps, {.merge_outputs = true}));
    ExpectSame(unrolled.outputs.merged(), {{"x0", {3, 0}}, {"x1", {3, 0}}}, {.layers = 0},
               WriteReq::kWrite, is_train);
  }
}

// Two layers with the same weights, and a layer whose two products share theirs.
TEST_P(KindTest, SharedWeights) {
  const CellPtr cell = Cell(GetParam(), "a_", 5);
  SequentialRNNCell stack;
  COOPER_ASSERT_OK(stack.Add(cell));
  COOPER_ASSERT_OK(stack.Add(cell));
  ExpectSame(Unroll(stack, 3, {.merge_outputs = true}), {{"data", {2, 3, 5}}}, {.layers = 2});
}

// The gradient of an output without dependents may be omitted, fused or not.
TEST_P(KindTest, HeadGradientsOfOutputsWithoutGradient) {
  const CellPtr cell = Cell(GetParam(), "a_", 4);
  const std::vector<Symbol> inputs = {Symbol::Variable("x1"), Symbol::Variable("x2")};
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled unrolled,
                              cell->Unroll(2, inputs, {.merge_outputs = false}));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group(unrolled.outputs.steps()));
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"x1", {2, 5}}, {"x2", {2, 5}}},
                                                         .grad_req = WriteReq::kNull,
                                                         .grad_reqs = {{"x2", WriteReq::kWrite}}}));
  EXPECT_EQ(Count(*executor, "_rnn_layer"), 1);
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  const NDArray head = *NDArray::Full({2, 4}, 1);
  COOPER_EXPECT_OK(executor->Backward({NDArray(), head}));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  EXPECT_EQ(executor->Backward({head, NDArray()}).code(), absl::StatusCode::kFailedPrecondition);
}

// The steps of a split variable, joined again, have its values but not its memory: outputs do not
// alias arguments.
TEST(FuseRNNLayersTest, AnOutputIsNoArgumentsMemory) {
  const CellPtr cell = Cell("lstm", "a_", 4);
  const Symbol steps = Op("SliceChannel", {Symbol::Variable("data")},
                          {{"axis", "0"}, {"num_outputs", "2"}, {"squeeze_axis", "1"}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled unrolled,
                              cell->Unroll(2, std::vector<Symbol>{steps[0], steps[1]},
                                           {.layout = "TNC", .merge_outputs = true}));
  const Symbol joined = Op("Concat",
                           {Op("expand_dims", {steps[0]}, {{"axis", "0"}}),
                            Op("expand_dims", {steps[1]}, {{"axis", "0"}})},
                           {{"dim", "0"}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group({unrolled.outputs.merged(), joined}));
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {2, 3, 5}}}}));
  COOPER_ASSERT_OK(executor->arg("data").Fill(1));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  COOPER_ASSERT_OK(executor->arg("data").Fill(2));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, executor->outputs());
  EXPECT_THAT(Floats(outputs[1]), ::testing::Each(1.0f));
}

// The graphs resemble cells, but a node has outside users, or the gates have another order.
TEST(FuseRNNLayersTest, LeavesOthersAlone) {
  for (const bool outside : {false, true}) {
    const Symbol x = Op("FullyConnected", {Symbol::Variable("data")}, {{"num_hidden", "16"}});
    const Symbol h = Op("FullyConnected", {Symbol::Variable("h0")}, {{"num_hidden", "16"}});
    const Symbol gates = Op("SliceChannel", {Op("elemwise_add", {x, h})}, {{"num_outputs", "4"}});
    const int order[] = {0, 1, 2, 3};
    const int other[] = {1, 0, 2, 3};
    const int* k = outside ? order : other;
    const Symbol i = Op("sigmoid", {gates[k[0]]}), f = Op("sigmoid", {gates[k[1]]});
    const Symbol g = Op("tanh", {gates[k[2]]}), o = Op("sigmoid", {gates[k[3]]});
    const Symbol c = Op("elemwise_add", {Op("elemwise_mul", {f, Symbol::Variable("c0")}),
                                         Op("elemwise_mul", {i, g})});
    std::vector<Symbol> outputs = {Op("elemwise_mul", {o, Op("tanh", {c})})};
    if (outside) outputs.push_back(Op("relu", {f}));
    ExpectSame(*Symbol::Group(outputs), {{"data", {2, 5}}, {"h0", {2, 4}}}, {.layers = 0});
  }
}

}  // namespace
}  // namespace cooper
