// Cond and WhileLoop: nodes, shapes and dtypes, files, errors. Their values are golden cases
// (tests/golden/ops/_cond, _while_loop) and rows of executor/passes/graph/expand_control_flow_test.

#include "symbol/control/cond.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/control/while_loop.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/json/json.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Symbols = std::vector<Symbol>;

Symbol Var(const char* name) { return Symbol::Variable(name); }

// a * s if p is not 0, else b, where s is computed outside.
Symbol Choice() {
  const Symbol s = op::square(Var("w"), {.name = "s"});
  return Cond(
      Var("p"), [&] { return Symbols{op::elemwise_mul(Var("a"), s, {.name = "product"})}; },
      [&] { return Symbols{Var("b")}; }, "choice")[0];
}

// Multiplies x by w while p - x, one number, is not 0.
WhileLoopResult Powers(int64_t max_iterations = 6) {
  return WhileLoop(
      [](const Symbols& vars) { return op::elemwise_sub(Var("p"), vars[1]); },
      [](const Symbols& vars) {
        const Symbol next = op::elemwise_mul(vars[0], Var("w"), {.name = "next"});
        return WhileLoopStep{.outputs = {op::tanh(next)}, .vars = {next, op::exp(vars[1])}};
      },
      {Var("x"), Var("i")}, max_iterations, "loop");
}

TEST(CondTest, IsOneNodeWithTheValuesThatItsGraphsRead) {
  EXPECT_THAT(Choice().ListArguments(), ElementsAre("p", "a", "w", "b"));
  EXPECT_THAT(Choice().ListOutputs(), ElementsAre("choice_output"));
}

TEST(CondTest, ShapesAndTypesFollowFromAnySide) {
  const struct {
    KnownShapes known;
    std::vector<PartialShape> args;
  } kCases[] = {
      {{{"p", {1}}, {"a", {2, 3}}}, {{1}, {2, 3}, {2, 3}, {2, 3}}},
      {{{"b", {2, 3}}}, {PartialShape(), {2, 3}, {2, 3}, {2, 3}}},
      {{{"a", {2, kUnknownDim}}, {"b", {kUnknownDim, 4}}},
       {PartialShape(), {2, 4}, {2, 4}, {2, 4}}},
  };
  for (const auto& c : kCases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShapePartial(Choice(), c.known));
    EXPECT_EQ(shapes.args, c.args);
    EXPECT_THAT(shapes.outputs, ElementsAre(c.args[1]));
  }
  for (const char* known : {"a", "b", "w"}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const InferredTypes types,
        InferType(Choice(), {{known, DType::kFloat64}, {"p", DType::kInt32}}));
    EXPECT_THAT(types.outputs, ElementsAre(DType::kFloat64)) << known;
  }
}

TEST(CondTest, BranchesOfOtherShapesAreRefused) {
  EXPECT_THAT(
      InferShapePartial(Choice(), {{"a", {2, 3}}, {"b", {2, 4}}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("_cond 'choice': output 0 has shape (2, 3) in the branch 'then' and "
                         "(2, 4) in the branch 'else'")));
  EXPECT_THAT(InferShapePartial(Choice(), {{"p", {2}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the condition has shape (2,), expected one element")));
}

TEST(WhileLoopTest, IsOneNodeWithTheValuesThatItsGraphsRead) {
  const WhileLoopResult loop = Powers();
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol all,
                              Symbol::Group({loop.outputs[0], loop.vars[0], loop.vars[1]}));
  EXPECT_THAT(all.ListArguments(), ElementsAre("p", "i", "x", "w"));
  EXPECT_THAT(all.ListOutputs(), ElementsAre("loop_output0", "loop_output1", "loop_output2"));
}

TEST(WhileLoopTest, ShapesAndTypesFollowFromAnySide) {
  const WhileLoopResult loop = Powers();
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol all, Symbol::Group({loop.outputs[0], loop.vars[0]}));
  const struct {
    KnownShapes known;
    std::vector<PartialShape> args, outputs;
  } kCases[] = {
      {{{"p", {1}}, {"x", {2, 3}}}, {{1}, {1}, {2, 3}, {2, 3}}, {{6, 2, 3}, {2, 3}}},
      {{{"i", {1, 1}}, {"w", {4}}}, {{1, 1}, {1, 1}, {4}, {4}}, {{6, 4}, {4}}},
  };
  for (const auto& c : kCases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShapePartial(all, c.known));
    EXPECT_EQ(shapes.args, c.args);
    EXPECT_EQ(shapes.outputs, c.outputs);
  }
  for (const char* known : {"x", "w"}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const InferredTypes types,
                                InferType(all, {{known, DType::kFloat64}, {"i", DType::kFloat32}}));
    EXPECT_THAT(types.outputs, ElementsAre(DType::kFloat64, DType::kFloat64)) << known;
  }
  EXPECT_THAT(InferShapePartial(all, {{"p", {2}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the condition has shape (2,), expected one element")));
  EXPECT_THAT(InferShapePartial(all, {{"x", {2}}, {"w", {3}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::AllOf(HasSubstr("_while_loop 'loop'"), HasSubstr("in the body"),
                                      HasSubstr("elemwise_mul 'next'"))));
}

TEST(ControlFlowTest, IsSavedAndLoaded) {
  // A choice inside a loop, with a layer that has auxiliary states.
  const WhileLoopResult loop =
      WhileLoop([](const Symbols& vars) { return op::elemwise_sub(Var("p"), vars[0]); },
                [](const Symbols& vars) {
                  const Symbol chosen = Cond(
                      vars[0], [&] { return Symbols{op::BatchNorm(vars[1], {.name = "norm"})}; },
                      [&] { return Symbols{vars[1]}; }, "inner")[0];
                  return WhileLoopStep{.outputs = {}, .vars = {vars[0], chosen}};
                },
                {Var("i"), Var("data")}, 3, "outer");
  EXPECT_THAT(loop.vars[1].ListAuxiliaryStates(),
              ElementsAre("norm_moving_mean", "norm_moving_var"));
  const std::string text = SymbolToJson(loop.vars[1]);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol loaded, SymbolFromJson(text));
  EXPECT_EQ(SymbolToJson(loaded), text);
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes,
                              InferShape(loaded, {{"data", {4, 2}}, {"i", {1}}}));
  EXPECT_THAT(shapes.outputs, ElementsAre(PartialShape({4, 2})));
}

TEST(ControlFlowTest, KeepsTheErrorOfWhatCannotBeBuilt) {
  const Symbol a = Var("a"), b = Var("b");
  const auto one = [&] { return Symbols{a}; };
  const auto two = [&] { return Symbols{a, b}; };
  const auto first = [](const Symbols& vars) { return vars[0]; };
  const auto echo = [](const Symbols& vars) { return WhileLoopStep{.vars = vars}; };
  const struct {
    Symbol symbol;
    const char* message;
  } kCases[] = {
      {Cond(a, one, two, "c")[0], "_cond 'c': the branches have 1 and 2 outputs"},
      {Cond(
           a, [] { return Symbols(); }, [] { return Symbols(); })[0],
       "have 0 and 0 outputs"},
      {Cond(*Symbol::Group({a, b}), one, one)[0], "condition 0 has 2 outputs"},
      {Cond(
           a, [] { return Symbols{Symbol(absl::InternalError("first"))}; }, one)[0],
       "first"},
      {WhileLoop(first, echo, {}, 2, "l").vars[0], "_while_loop 'l': there are no loop variables"},
      {WhileLoop(first, echo, {a}, 0).vars[0], "max_iterations"},
      {WhileLoop(
           first, [](const Symbols&) { return WhileLoopStep(); }, {a}, 2)
           .vars[0],
       "the body returned 0 loop variables, expected 1"},
      {WhileLoop(
           first, [&](const Symbols&) { return WhileLoopStep{.vars = {b}}; }, {a}, 2)
           .vars[0],
       "the body does not read loop variable 0"},
  };
  for (const auto& c : kCases) EXPECT_THAT(c.symbol.status().message(), HasSubstr(c.message));
}

TEST(ControlFlowTest, FilesWhosePositionsDoNotFitTheGraphsAreRefused) {
  const struct {
    std::string text;
    const char *from, *to, *message;
  } kCases[] = {
      {SymbolToJson(Choice()), R"_("then_input_locs": "(1, 2)")_",
       R"_("then_input_locs": "(1, 9)")_",
       "then_input_locs names input 9, but the node has 4 inputs"},
      {SymbolToJson(Choice()), R"_("then_input_locs": "(1, 2)")_", R"_("then_input_locs": "(1,)")_",
       "the branch 'then' has 2 variables, but then_input_locs names 1 inputs"},
      {SymbolToJson(Choice()), R"_("num_outputs": "1")_", R"_("num_outputs": "2")_",
       "the branch 'then' has 1 outputs, expected 2"},
      {SymbolToJson(Powers().vars[0]), R"_("func_var_locs": "(0, 2)")_",
       R"_("func_var_locs": "(0, 0)")_", "variable 0 of the body is out of range or twice"},
      {SymbolToJson(Powers().vars[0]), R"_("func_var_locs": "(0, 2)")_",
       R"_("func_var_locs": "(0, 3)")_", "variable 3 of the body is out of range or twice"},
      {SymbolToJson(Powers().vars[0]), R"_("func_input_locs": "(2, 3, 1)")_",
       R"_("func_input_locs": "(2, 1, 1)")_",
       "input 1 is the start of loop variable 1 and of another variable of the body"},
      {SymbolToJson(Powers().vars[0]), R"_("num_out_data": "1")_", R"_("num_out_data": "0")_",
       "expected num_out_data 0 + 2 loop variables"},
      {SymbolToJson(Powers().vars[0]), R"_("max_iterations": "6")_", R"_("max_iterations": "0")_",
       "max_iterations"},
  };
  for (const auto& c : kCases) {
    const std::string changed = absl::StrReplaceAll(c.text, {{c.from, c.to}});
    ASSERT_NE(changed, c.text) << c.from << "\n" << c.text;
    EXPECT_THAT(SymbolFromJson(changed).status().message(), HasSubstr(c.message)) << changed;
  }
}

}  // namespace
}  // namespace cooper
