#include "symbol/control/foreach.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
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

// Running sums: a step adds the data, scaled by a value from outside, to the state.
ForeachResult Sums(const Symbol& scale) {
  return Foreach(
      [&](const std::vector<Symbol>& data, const std::vector<Symbol>& states) {
        const Symbol sum = op::elemwise_add(op::elemwise_mul(data[0], scale, {.name = "scaled"}),
                                            states[0], {.name = "sum"});
        return ForeachStep{.outputs = {op::tanh(sum, {.name = "value"})}, .states = {sum}};
      },
      {Symbol::Variable("data")}, {Symbol::Variable("begin")}, "loop");
}

TEST(ForeachTest, IsOneNodeWithTheValuesThatTheBodyReads) {
  const Symbol scale = op::square(Symbol::Variable("w"), {.name = "scale"});
  const ForeachResult loop = Sums(scale);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({loop.outputs[0], loop.states[0]}));
  EXPECT_THAT(both.ListArguments(), ElementsAre("data", "begin", "w"));
  EXPECT_THAT(both.ListOutputs(), ElementsAre("loop_output0", "loop_output1"));
  EXPECT_THAT(both.GetInternals().ListOutputs(),
              ElementsAre("data", "begin", "w", "scale_output", "loop_output0", "loop_output1"));
}

TEST(ForeachTest, ShapesAndTypesFollowFromAnySide) {
  const ForeachResult loop = Sums(Symbol::Variable("k"));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({loop.outputs[0], loop.states[0]}));
  const struct {
    KnownShapes known;
    std::vector<PartialShape> args, outputs;
  } kCases[] = {
      {{{"data", {5, 2, 3}}}, {{5, 2, 3}, {2, 3}, {2, 3}}, {{5, 2, 3}, {2, 3}}},
      {{{"k", {2, 3}}, {"data", {4, kUnknownDim, kUnknownDim}}},
       {{4, 2, 3}, {2, 3}, {2, 3}},
       {{4, 2, 3}, {2, 3}}},
      {{{"begin", {2, 3}}}, {{kUnknownDim, 2, 3}, {2, 3}, {2, 3}}, {{kUnknownDim, 2, 3}, {2, 3}}},
      {{{"data", {7}}}, {{7}, {1}, {1}}, {{7, 1}, {1}}},  // a step of a vector has shape (1,)
  };
  for (const auto& c : kCases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShapePartial(both, c.known));
    EXPECT_EQ(shapes.args, c.args);
    EXPECT_EQ(shapes.outputs, c.outputs);
  }
  for (const char* known : {"data", "begin", "k"}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const InferredTypes types,
                                InferType(both, {{known, DType::kFloat64}}));
    EXPECT_THAT(types.outputs, testing::Each(DType::kFloat64)) << known;
  }
}

TEST(ForeachTest, ShapesThatContradictEachOtherAreRefused) {
  const ForeachResult loop = Sums(Symbol::Variable("k"));
  EXPECT_THAT(InferShapePartial(loop.outputs[0], {{"data", {5, 2, 3}}, {"begin", {2, 4}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::AllOf(HasSubstr("_foreach 'loop'"), HasSubstr("in the body"),
                                      HasSubstr("elemwise_add 'sum'"))));
}

TEST(ForeachTest, IsSavedAndLoaded) {
  // A loop inside a loop, with the auxiliary states of a layer in its body.
  const ForeachResult loop = Foreach(
      [](const std::vector<Symbol>& data, const std::vector<Symbol>& states) {
        const ForeachResult inner = Foreach(
            [&](const std::vector<Symbol>& row, const std::vector<Symbol>& sum) {
              return ForeachStep{.outputs = {op::elemwise_mul(row[0], states[0])},
                                 .states = {op::elemwise_add(sum[0], row[0])}};
            },
            {op::BatchNorm(data[0], {.name = "norm"})}, {states[0]}, "inner");
        return ForeachStep{.outputs = inner.outputs, .states = inner.states};
      },
      {Symbol::Variable("data")}, {Symbol::Variable("begin")}, "outer");
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({loop.outputs[0], loop.states[0]}));
  EXPECT_THAT(both.ListAuxiliaryStates(), ElementsAre("norm_moving_mean", "norm_moving_var"));
  const std::string text = SymbolToJson(both);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol loaded, SymbolFromJson(text));
  EXPECT_EQ(SymbolToJson(loaded), text);
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes,
                              InferShape(loaded, {{"data", {6, 2, 3}}}));
  EXPECT_THAT(shapes.outputs, ElementsAre(PartialShape({6, 2, 3}), PartialShape({3})));
}

TEST(ForeachTest, KeepsTheErrorOfWhatCannotBeBuilt) {
  const Symbol data = Symbol::Variable("data"), begin = Symbol::Variable("begin");
  const auto body = [](std::vector<Symbol> outputs, std::vector<Symbol> states) {
    return [=](const std::vector<Symbol>&, const std::vector<Symbol>&) {
      return ForeachStep{.outputs = outputs, .states = states};
    };
  };
  const ForeachBodyFn echo = [](const std::vector<Symbol>& d, const std::vector<Symbol>& s) {
    return ForeachStep{.outputs = d, .states = s};
  };
  const struct {
    ForeachResult loop;
    const char* message;
  } kCases[] = {
      {Foreach(echo, {}, {begin}, "l"), "_foreach 'l': there is no data to run over"},
      {Foreach(body({data}, {}), {data}, {begin}, "l"), "the body returned 0 states, expected 1"},
      {Foreach(body({}, {}), {data}, {}, "l"), "the body returned nothing"},
      {Foreach(body({begin}, {}), {data}, {}, "l"), "the body does not read data 0"},
      {Foreach([](const auto& d, const auto&) { return ForeachStep{.states = d}; }, {data}, {begin},
               "l"),
       "the body does not read state 0"},
      {Foreach(echo, {*Symbol::Group({data, begin})}, {}, "l"), "data 0 has 2 outputs"},
      {Foreach(echo, {Symbol(absl::InternalError("first"))}, {}, "l"), "first"},
  };
  for (const auto& c : kCases) {
    ASSERT_EQ(c.loop.outputs.size(), 1) << c.message;
    EXPECT_THAT(c.loop.outputs[0].status().message(), HasSubstr(c.message));
    EXPECT_FALSE(c.loop.states[0].status().ok());
  }
}

TEST(ForeachTest, FilesWhosePositionsDoNotFitTheBodyAreRefused) {
  const ForeachResult loop = Sums(Symbol::Variable("k"));
  const std::string text = SymbolToJson(loop.outputs[0]);
  const struct {
    const char *from, *to, *message;
  } kCases[] = {
      {R"_("in_data_locs": "(0,)")_", R"_("in_data_locs": "()")_", "in_data_locs is empty"},
      {R"_("in_data_locs": "(0,)")_", R"_("in_data_locs": "(1,)")_", "position 1 of a variable"},
      {R"_("in_data_locs": "(0,)")_", R"_("in_data_locs": "(9,)")_", "position 9 of a variable"},
      {R"_("in_data_locs": "(0,)")_", R"_("in_data_locs": "(0, 3)")_", "num_args is 4, expected 5"},
      {R"("num_args": "4")", R"("num_args": "2000000000")", "num_args='2000000000'"},
      {R"("num_outputs": "2")", R"("num_outputs": "3")", "expected num_out_data 1 + 1 states"},
      {R"("op": "_foreach")", R"("op": "_loop")", "(_loop) has subgraphs: control flow"},
      {R"("op": "_foreach")", R"("op": "tanh")", "has 1 subgraphs, expected 0"},
      {R"("subgraphs")", R"("graphs")", "has 0 subgraphs, expected 1"},
      {R"("heads": [[5, 0, 0], [4, 0, 0]])", R"("heads": [[5, 0, 0], [9, 0, 0]])",
       "refers to node 9"},
  };
  for (const auto& c : kCases) {
    const std::string changed = absl::StrReplaceAll(text, {{c.from, c.to}});
    ASSERT_NE(changed, text) << c.from << "\n" << text;
    EXPECT_THAT(SymbolFromJson(changed).status().message(), HasSubstr(c.message)) << changed;
  }
}

}  // namespace
}  // namespace cooper
