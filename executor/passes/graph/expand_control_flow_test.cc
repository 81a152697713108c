// Compares loops with the same steps written one after the other. MXNet's results are golden cases
// (tests/golden/ops/_foreach).

#include "executor/passes/graph/expand_control_flow.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/control/cond.h"
#include "symbol/control/foreach.h"
#include "symbol/control/while_loop.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/nn.h"
#include "symbol/op/operators.h"
#include "symbol/rnn/lstm_cell.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kLength = 7, kBatch = 3, kInputs = 4, kHidden = 5;

// The outputs of an LSTM, (length, batch, hidden), as a loop over its steps.
Symbol LstmLoop() {
  LSTMCell cell(kHidden, {.prefix = "lstm_"});
  const ForeachResult loop = Foreach(
      [&](const std::vector<Symbol>& data, const std::vector<Symbol>& states) {
        auto step = cell.Step(data[0], states);
        if (!step.ok()) return ForeachStep{.outputs = {Symbol(step.status())}, .states = states};
        return ForeachStep{.outputs = {step->output}, .states = step->states};
      },
      {Symbol::Variable("data")}, {Symbol::Variable("h"), Symbol::Variable("c")}, "loop");
  return loop.outputs[0];
}

// The same outputs, unrolled by the cell.
Symbol LstmSteps() {
  LSTMCell cell(kHidden, {.prefix = "lstm_"});
  auto unrolled =
      cell.Unroll(kLength, Symbol::Variable("data"),
                  {.begin_state = std::vector<Symbol>{Symbol::Variable("h"), Symbol::Variable("c")},
                   .layout = "TNC",
                   .merge_outputs = true});
  EXPECT_TRUE(unrolled.ok()) << unrolled.status();
  return unrolled->outputs.merged();
}

const KnownShapes& LstmShapes() {
  static const auto* const shapes = new KnownShapes{
      {"data", {kLength, kBatch, kInputs}}, {"h", {kBatch, kHidden}}, {"c", {kBatch, kHidden}}};
  return *shapes;
}

std::unique_ptr<Executor> Bind(const Symbol& symbol, const KnownShapes& shapes,
                               WriteReq req = WriteReq::kWrite) {
  auto bound = Executor::SimpleBind(symbol, {.shapes = shapes, .grad_req = req});
  EXPECT_TRUE(bound.ok()) << bound.status();
  return bound.ok() ? *std::move(bound) : nullptr;
}

// Fills the arguments, by name, and runs a step of training.
void Train(Executor& executor) {
  for (const std::string& name : executor.arg_names()) {
    FillRandom(executor.arg(name), std::hash<std::string>()(name) % 1000);
  }
  COOPER_ASSERT_OK(executor.Forward(true));
  std::vector<NDArray> heads;
  for (size_t i = 0; i < executor.output_shapes().size(); ++i) {
    heads.push_back(*NDArray::Empty(executor.output_shapes()[i]));
    FillRandom(heads.back(), 2000 + i);
  }
  COOPER_ASSERT_OK(executor.Backward(heads));
}

// A loop of an LSTM is recognised as a layer, and neither slower nor larger than an unrolled one.
TEST(ExpandControlFlowTest, AnLstmIsTheUnrolledNetwork) {
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kNull}) {
    const std::unique_ptr<Executor> loop = Bind(LstmLoop(), LstmShapes(), req);
    const std::unique_ptr<Executor> steps = Bind(LstmSteps(), LstmShapes(), req);
    EXPECT_THAT(loop->DebugString(), HasSubstr("_rnn_layer "));
    EXPECT_THAT(loop->DebugString(), Not(HasSubstr("_foreach ")));
    EXPECT_LE(loop->memory().planned_bytes, steps->memory().planned_bytes);
    EXPECT_EQ(loop->output_names(), (std::vector<std::string>{"loop_output0"}));
    if (req == WriteReq::kNull) continue;
    Train(*loop);
    Train(*steps);
    EXPECT_EQ(Floats((*loop->outputs())[0]), Floats((*steps->outputs())[0]));
    for (const auto& [name, grad] : steps->grad_dict()) {
      EXPECT_EQ(Floats(loop->grad(name)), Floats(grad)) << name;
    }
  }
}

// MXNet 1.9.1 computes other gradients of states under kAdd (docs/mxnet_differences.md).
TEST(ExpandControlFlowTest, AddsToGradients) {
  const ForeachResult loop = Foreach(
      [](const std::vector<Symbol>& data, const std::vector<Symbol>& states) {
        const Symbol sum = op::elemwise_add(op::tanh(states[0]), data[0]);
        return ForeachStep{.outputs = {op::square(sum)}, .states = {sum}};
      },
      {Symbol::Variable("data")}, {Symbol::Variable("begin")});
  const KnownShapes shapes = {{"data", {4, 2, 3}}, {"begin", {2, 3}}};
  const std::unique_ptr<Executor> writing = Bind(loop.outputs[0], shapes);
  const std::unique_ptr<Executor> adding = Bind(loop.outputs[0], shapes, WriteReq::kAdd);
  for (const auto& [name, grad] : adding->grad_dict()) COOPER_ASSERT_OK(grad.Fill(0.5));
  Train(*writing);
  Train(*adding);
  for (const auto& [name, grad] : writing->grad_dict()) {
    const std::vector<float> added = Floats(adding->grad(name)), written = Floats(grad);
    for (size_t i = 0; i < written.size(); ++i) {
      EXPECT_NEAR(added[i], 0.5 + written[i], 1e-6) << name << " " << i;
    }
  }
}

// Each step draws its own random numbers, in nested loops too.
TEST(ExpandControlFlowTest, StepsDropDifferentElements) {
  const auto drop = [](const std::vector<Symbol>& data, const std::vector<Symbol>&) {
    return ForeachStep{.outputs = {op::Dropout(data[0], {.p = 0.5})}, .states = {}};
  };
  const ForeachResult loop = Foreach(
      [&](const std::vector<Symbol>& data, const std::vector<Symbol>&) {
        return ForeachStep{.outputs = Foreach(drop, data, {}).outputs, .states = {}};
      },
      {Symbol::Variable("data")}, {});
  const std::unique_ptr<Executor> executor = Bind(loop.outputs[0], {{"data", {3, 4, 32}}});
  COOPER_ASSERT_OK(executor->arg("data").Fill(1));
  COOPER_ASSERT_OK(executor->Forward(true));
  const std::vector<float> values = Floats((*executor->outputs())[0]);
  std::set<std::vector<float>> rows;
  for (int row = 0; row < 12; ++row) {
    rows.insert({values.begin() + 32 * row, values.begin() + 32 * (row + 1)});
  }
  EXPECT_EQ(rows.size(), 12);
}

TEST(ExpandControlFlowTest, AnotherLengthIsAnotherProgram) {
  const std::unique_ptr<Executor> executor = Bind(LstmLoop(), LstmShapes());
  KnownShapes shapes = LstmShapes();
  shapes["data"] = {kLength - 2, kBatch, kInputs};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto shorter, executor->Reshape(shapes));
  Train(*shorter);
  const std::unique_ptr<Executor> fresh = Bind(LstmLoop(), shapes);
  Train(*fresh);
  EXPECT_EQ(Floats((*shorter->outputs())[0]), Floats((*fresh->outputs())[0]));
}

// Where `p` is not 0 log(x) * w, else x.
Symbol LogIf() {
  const Symbol x = Symbol::Variable("x");
  return Cond(
      Symbol::Variable("p"),
      [&] { return std::vector<Symbol>{op::elemwise_mul(op::log(x), Symbol::Variable("w"))}; },
      [&] { return std::vector<Symbol>{x}; }, "choice")[0];
}

// Runs a training step with head gradients of 1 and returns the gradient of `name`.
std::vector<float> GradientOf(Executor& executor, const char* name) {
  COOPER_EXPECT_OK(executor.Forward(true));
  std::vector<NDArray> heads;
  for (const Shape& shape : executor.output_shapes()) {
    heads.push_back(*NDArray::Empty(shape));
    COOPER_EXPECT_OK(heads.back().Fill(1));
  }
  COOPER_EXPECT_OK(executor.Backward(heads));
  return Floats(executor.grad(name));
}

// The branch that is not taken has NaN as its value and inf as its derivative.
TEST(ExpandControlFlowTest, ABranchThatIsNotTakenDoesNotReachGradients) {
  const KnownShapes shapes = {{"p", {1}}, {"x", {2}}};
  for (const std::set<std::string>& disabled :
       {std::set<std::string>(), std::set<std::string>{"accumulate", "views", "in_place"}}) {
    auto bound = Executor::SimpleBind(LogIf(), {.shapes = shapes, .disabled_passes = disabled});
    COOPER_ASSERT_OK(bound.status());
    Executor& executor = **bound;
    COOPER_ASSERT_OK(executor.arg("x").CopyFrom(*NDArray::FromVector<float>({2}, {0, -1})));
    COOPER_ASSERT_OK(executor.arg("w").Fill(0));
    COOPER_ASSERT_OK(executor.arg("p").Fill(0));
    EXPECT_EQ(GradientOf(executor, "x"), (std::vector<float>{1, 1}));
    EXPECT_EQ(Floats(executor.grad("w")), (std::vector<float>{0, 0}));
    EXPECT_EQ(Floats((*executor.outputs())[0]), (std::vector<float>{0, -1}));
    COOPER_ASSERT_OK(executor.arg("x").Fill(4));
    COOPER_ASSERT_OK(executor.arg("w").Fill(2));
    COOPER_ASSERT_OK(executor.arg("p").Fill(0.25));  // not 0, so true
    EXPECT_EQ(GradientOf(executor, "x"), (std::vector<float>{0.5, 0.5}));
  }
}

TEST(ExpandControlFlowTest, ABranchThatIsNotTakenDoesNotRun) {
  const std::unique_ptr<Executor> executor = Bind(LogIf(), {{"p", {1}}, {"x", {2}}});
  EXPECT_THAT(executor->DebugString(), HasSubstr("(if choice_condition_bool_output)"));
  EXPECT_THAT(executor->DebugString(), Not(HasSubstr("_guard 'choice_then_in1' (if")));
}

// Running statistics change in the branch that is taken, and only if it is taken.
TEST(ExpandControlFlowTest, AuxiliaryStatesOfABranchThatIsNotTakenStay) {
  const Symbol x = Symbol::Variable("x");
  const auto norm = [&](const char* name) {
    return std::vector<Symbol>{op::BatchNorm(x, {.momentum = 0.5, .name = name})};
  };
  // `before` is computed outside: it changes whatever the branch is.
  const Symbol before = norm("before")[0];
  const Symbol choice = Cond(
      Symbol::Variable("p"), [&] { return std::vector<Symbol>{before}; },
      [&] { return norm("inside"); }, "choice")[0];
  const std::unique_ptr<Executor> executor = Bind(choice, {{"p", {1}}, {"x", {4, 2}}});
  COOPER_ASSERT_OK(executor->arg("x").Fill(8));
  const auto means = [&](float p) {
    COOPER_EXPECT_OK(executor->arg("p").Fill(p));
    for (const char* name : {"before_moving_mean", "inside_moving_mean"}) {
      COOPER_EXPECT_OK(executor->aux(name).Fill(0));
    }
    GradientOf(*executor, "x");
    return std::vector<float>{Floats(executor->aux("before_moving_mean"))[0],
                              Floats(executor->aux("inside_moving_mean"))[0]};
  };
  EXPECT_EQ(means(1), (std::vector<float>{4, 0}));
  EXPECT_EQ(means(0), (std::vector<float>{4, 4}));
}

TEST(ExpandControlFlowTest, StepsAfterTheLastOneDoNotReachGradients) {
  // x becomes 1 / (x - 1), whose second step divides by 0.
  const WhileLoopResult loop =
      WhileLoop([](const std::vector<Symbol>& vars) { return vars[1] < 1; },
                [](const std::vector<Symbol>& vars) {
                  const Symbol next = 1 / (vars[0] - 1);
                  return WhileLoopStep{.outputs = {next}, .vars = {next, vars[1] + 1}};
                },
                {Symbol::Variable("x"), Symbol::Variable("i")}, 3, "loop");
  const Symbol both = *Symbol::Group({loop.outputs[0], loop.vars[0]});
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    const std::unique_ptr<Executor> executor = Bind(both, {{"x", {1}}, {"i", {1}}}, req);
    const float start = req == WriteReq::kAdd ? 10 : 0;
    const auto run = [&](float begin) {
      COOPER_EXPECT_OK(executor->arg("x").Fill(2));
      COOPER_EXPECT_OK(executor->arg("i").Fill(begin));
      COOPER_EXPECT_OK(executor->grad("x").Fill(10));
      std::vector<float> values = {GradientOf(*executor, "x")[0] - start};
      const absl::Span<const NDArray> outputs = *executor->outputs();
      for (const NDArray& output : outputs) {
        for (const float value : Floats(output)) values.push_back(value);
      }
      return values;
    };
    // Its gradient, the three rows of the output, and the last x.
    EXPECT_EQ(run(0), (std::vector<float>{-2, 1, 0, 0, 1}));
    EXPECT_EQ(run(5), (std::vector<float>{1, 0, 0, 0, 2}));  // no step at all
  }
}

// Loops in branches and branches in loops: x * 2 per step, but x * x where x > 8.
TEST(ExpandControlFlowTest, ControlFlowNests) {
  const WhileLoopResult loop =
      WhileLoop([](const std::vector<Symbol>& vars) { return vars[0] < 100; },
                [](const std::vector<Symbol>& vars) {
                  const Symbol& x = vars[0];
                  const Symbol next = Cond(
                      x > 8, [&] { return std::vector<Symbol>{op::square(x)}; },
                      [&] { return std::vector<Symbol>{x * 2}; }, "inner")[0];
                  return WhileLoopStep{.outputs = {next}, .vars = {next}};
                },
                {Symbol::Variable("x")}, 5, "loop");
  const std::unique_ptr<Executor> executor =
      Bind(*Symbol::Group({loop.outputs[0], loop.vars[0]}), {{"x", {1}}});
  COOPER_ASSERT_OK(executor->arg("x").Fill(3));
  COOPER_ASSERT_OK(executor->Forward(true));
  EXPECT_EQ(Floats((*executor->outputs())[0]), (std::vector<float>{6, 12, 144, 0, 0}));
  EXPECT_EQ(Floats((*executor->outputs())[1]), (std::vector<float>{144}));
  // d(6 + 12 + 144 + 144)/dx = 2 + 4 + 2 * (2 * 12 * 4).
  EXPECT_EQ(GradientOf(*executor, "x"), (std::vector<float>{198}));
}

TEST(ExpandControlFlowTest, TooManyStepsAreRefused) {
  const auto echo = [](const std::vector<Symbol>& data, const std::vector<Symbol>&) {
    return ForeachStep{.outputs = {op::tanh(data[0])}, .states = {}};
  };
  const Symbol loop = Foreach(echo, {Symbol::Variable("data")}, {}, "loop").outputs[0];
  EXPECT_THAT(Executor::SimpleBind(loop, {.shapes = {{"data", {70'000, 1}}}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("_foreach 'loop': 70000 steps, expected at most 65536")));
  EXPECT_THAT(Executor::SimpleBind(loop, {.shapes = {{"data", {0, 1}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("_foreach 'loop': its data has no steps")));
  const auto first = [](const std::vector<Symbol>& vars) { return vars[0]; };
  const auto keep = [](const std::vector<Symbol>& vars) { return WhileLoopStep{.vars = vars}; };
  const Symbol endless =
      WhileLoop(first, keep, {Symbol::Variable("x")}, 1'000'000'000, "endless").vars[0];
  EXPECT_THAT(Executor::SimpleBind(endless, {.shapes = {{"x", {1}}}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("_while_loop 'endless': 1000000000 steps, expected at most")));
  // Few nodes, but many outputs, each of which is chosen and stacked.
  const auto many = [](const std::vector<Symbol>& vars) {
    return WhileLoopStep{.outputs = std::vector<Symbol>(1000, vars[0]), .vars = {vars[0] + 1}};
  };
  const Symbol wide = WhileLoop(first, many, {Symbol::Variable("x")}, 60'000, "wide").vars[0];
  EXPECT_THAT(Executor::SimpleBind(wide, {.shapes = {{"x", {1}}}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("nodes each make a graph of more than")));
  const auto nested = [&](const std::vector<Symbol>& data, const std::vector<Symbol>&) {
    return ForeachStep{.outputs = Foreach(echo, data, {}, "inner").outputs, .states = {}};
  };
  const Symbol outer = Foreach(nested, {Symbol::Variable("data")}, {}, "outer").outputs[0];
  EXPECT_THAT(Executor::SimpleBind(outer, {.shapes = {{"data", {100, 40'000, 1}}}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("40000 steps of 6 nodes each make a graph of more than")));
}

}  // namespace
}  // namespace cooper
