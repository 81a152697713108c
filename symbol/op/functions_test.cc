// Compares networks built with operator functions with the same networks built from texts.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/operators.h"
#include "symbol/op/shape.h"

namespace cooper {
namespace {

using absl::StatusCode::kInvalidArgument;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Symbol Text(const char* op, const OpArgs& args) { return Symbol::Create(op, args).value(); }

// Checks that both functions create networks with the same JSON. Automatic names are counted from 0
// in each.
template <typename Typed, typename Texts>
void ExpectSameJson(const Typed& typed, const Texts& texts) {
  NameManager names;
  const Symbol a = typed();
  ASSERT_THAT(a.status(), IsOk());
  NameManager again;
  EXPECT_EQ(SymbolToJson(a), SymbolToJson(texts()));
}

TEST(FunctionsTest, MakePerceptron) {
  const Symbol data = Symbol::Variable("data");
  ExpectSameJson(
      [&] {
        const Symbol h =
            op::Activation(op::FullyConnected(data, {.num_hidden = 64}), {.act_type = "relu"});
        return op::SoftmaxOutput(
            op::FullyConnected(h, {.num_hidden = 10, .no_bias = true, .name = "fc2"}),
            {.label = Symbol::Variable("answer"),
             .ignore_label = 0,
             .use_ignore = true,
             .normalization = "valid",
             .name = "softmax"});
      },
      [&] {
        const Symbol fc1 =
            Text("FullyConnected", {.inputs = {data}, .attrs = {{"num_hidden", "64"}}});
        const Symbol h = Text("Activation", {.inputs = {fc1}, .attrs = {{"act_type", "relu"}}});
        const Symbol fc2 = Text(
            "FullyConnected",
            {.name = "fc2", .inputs = {h}, .attrs = {{"num_hidden", "10"}, {"no_bias", "True"}}});
        return Text(
            "SoftmaxOutput",
            {.name = "softmax",
             .inputs = {fc2, Symbol::Variable("answer")},
             .attrs = {{"ignore_label", "0"}, {"use_ignore", "True"}, {"normalization", "valid"}}});
      });
}

TEST(FunctionsTest, MakeConvolutionsWithTuplesAndStates) {
  const Symbol data = Symbol::Variable("data");
  const Symbol gamma = Symbol::Variable("scale");
  ExpectSameJson(
      [&] {
        Symbol x = op::Convolution(data, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = 8});
        x = op::BatchNorm(x, {.gamma = gamma, .fix_gamma = false, .name = "bn"});
        x = op::Pooling(x, {.kernel = {2, 2}, .stride = {2, 2}});
        const Symbol parts = op::split(x, {.num_outputs = 2});
        return op::Flatten(op::Concat({parts[1], parts[0]}, {.attrs = {{"__mood__", "good"}}}));
      },
      [&] {
        Symbol x = Text("Convolution",
                        {.inputs = {data},
                         .attrs = {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "8"}}});
        x = Text("BatchNorm", {.name = "bn",
                               .inputs = {x},
                               .named = {{"gamma", gamma}},
                               .attrs = {{"fix_gamma", "False"}}});
        x = Text("Pooling", {.inputs = {x}, .attrs = {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}}});
        const Symbol parts = Text("split", {.inputs = {x}, .attrs = {{"num_outputs", "2"}}});
        const Symbol both =
            Text("Concat", {.inputs = {parts[1], parts[0]}, .attrs = {{"__mood__", "good"}}});
        return Text("Flatten", {.inputs = {both}});
      });
}

TEST(FunctionsTest, OperatorsAreThoseOfPython) {
  const Symbol a = Symbol::Variable("a"), b = Symbol::Variable("b");
  const auto scalar = [](const char* op, const Symbol& x, const char* text) {
    return Text(op, {.inputs = {x}, .attrs = {{"scalar", text}}});
  };
  ExpectSameJson(
      [&] {
        return op::Group({a + b,
                          a - b,
                          a * b,
                          a / b,
                          a % b,
                          a + 1,
                          a - 1,
                          a * 2,
                          a / 2,
                          a % 2,
                          1 + a,
                          1 - a,
                          2 * a,
                          2 / a,
                          2 % a,
                          -a,
                          a == b,
                          a != b,
                          a<b, a <= b, a>
                              b,
                          a >= b,
                          a == 0,
                          a != 0,
                          a<0.5, a <= 0, a> 0,
                          a >= 0,
                          0 == a,
                          0 != a,
                          0 < a,
                          0 <= a,
                          0 > a,
                          0 >= a,
                          op::Slice(a, 1, 0, 3),
                          op::Slice(a, -1, 2)});
      },
      [&] {
        std::vector<Symbol> all;
        for (const char* op : {"_plus", "_minus", "_mul", "_div", "_mod"}) {
          all.push_back(Text(op, {.inputs = {a, b}}));
        }
        all.push_back(scalar("_PlusScalar", a, "1"));
        all.push_back(scalar("_MinusScalar", a, "1"));
        for (const char* op : {"_MulScalar", "_DivScalar", "_ModScalar"}) {
          all.push_back(scalar(op, a, "2"));
        }
        all.push_back(scalar("_PlusScalar", a, "1"));
        all.push_back(scalar("_RMinusScalar", a, "1"));
        for (const char* op : {"_MulScalar", "_RDivScalar", "_RModScalar"}) {
          all.push_back(scalar(op, a, "2"));
        }
        all.push_back(scalar("_MulScalar", a, "-1"));
        const std::vector<std::string> comparisons = {
            "_equal", "_not_equal", "_lesser", "_lesser_equal", "_greater", "_greater_equal"};
        for (const std::string& op : comparisons) {
          all.push_back(Text(op.c_str(), {.inputs = {a, b}}));
        }
        for (const std::string& op : comparisons) {
          all.push_back(scalar((op + "_scalar").c_str(), a, op == "_lesser" ? "0.5" : "0"));
        }
        for (const char* op : {"_equal_scalar", "_not_equal_scalar", "_greater_scalar",
                               "_greater_equal_scalar", "_lesser_scalar", "_lesser_equal_scalar"}) {
          all.push_back(scalar(op, a, "0"));
        }
        const auto slice = [&](const char* axis, const char* begin, const char* end) {
          return Text("slice_axis",
                      {.inputs = {a}, .attrs = {{"axis", axis}, {"begin", begin}, {"end", end}}});
        };
        all.push_back(slice("1", "0", "3"));
        all.push_back(slice("-1", "2", "None"));
        return Symbol::Group(all).value();
      });
}

TEST(FunctionsTest, InputsThatAreLeftOutBecomeVariables) {
  const Symbol fc = op::FullyConnected(
      Symbol::Variable("x"), {.weight = Symbol::Variable("shared"), .num_hidden = 3, .name = "fc"});
  EXPECT_THAT(fc.ListArguments(), ElementsAre("x", "shared", "fc_bias"));
}

TEST(FunctionsTest, AutomaticNamesHaveNoNamespace) {
  NameManager names;
  EXPECT_EQ(op::contrib::ctc_loss(Symbol::Variable("x"), {}).name(), "ctc_loss0");
}

// A finished network reports the first error unchanged.
TEST(FunctionsTest, FirstErrorIsKept) {
  const Symbol bad = op::Activation(Symbol::Variable("x"), {.act_type = "rellu", .name = "act1"});
  EXPECT_THAT(bad.status(), StatusIs(kInvalidArgument,
                                     AllOf(HasSubstr("Activation 'act1'"), HasSubstr("rellu"))));
  Symbol net = op::FullyConnected(bad + 1, {.num_hidden = 0, .name = "fc"})[3];
  net = op::Group({Symbol::Variable("y"), op::Concat({net, net}, {})});
  EXPECT_EQ(net.status(), bad.status());
  EXPECT_EQ(net.num_outputs(), 0);
  EXPECT_EQ(InferShape(net, {}).status(), bad.status());
  EXPECT_EQ(SaveSymbol("/nowhere/symbol.json", net), bad.status());
  EXPECT_EQ(Symbol::Create("relu", {.inputs = {net}}).status(), bad.status());
  EXPECT_EQ(net.Get("y").status(), bad.status());
  EXPECT_EQ(net.GetInternals().status(), bad.status());
}

// mxnet#12486. MXNet fails too. A graph with such names is valid until one of them is looked up.
TEST(FunctionsTest, ANameThatTwoOutputsHaveIsNotLookedUp) {
  const Symbol data = Symbol::Variable("data");
  const Symbol first = op::Activation(data, {.act_type = "relu", .name = "r"});
  const Symbol both = op::Activation(first * 2, {.act_type = "sigmoid", .name = "r"});
  COOPER_ASSERT_OK(both.status());
  EXPECT_THAT(both.GetInternals().Get("r_output").status(),
              StatusIs(kInvalidArgument,
                       HasSubstr("two outputs are called 'r_output': output 0 of Activation 'r' "
                                 "(node 1 of 4) and output 0 of Activation 'r' (node 3 of 4); give "
                                 "one of the nodes another name")));
  EXPECT_THAT(both.GetInternals().Get("data").status(), IsOk());
  EXPECT_EQ(both.Get("r_output")->outputs(), both.outputs()) << "the inner one is no output";
  // An output that is listed twice is not ambiguous.
  const Symbol twice = op::Group({first, first});
  EXPECT_THAT(twice.Get("r_output").status(), IsOk());
}

// The attributes of a variable are not mixed up with those of an operator of the same name.
TEST(FunctionsTest, AttributesOfAVariableAreNotThoseOfAnOperatorOfItsName) {
  const Symbol w = Symbol::Variable("w", {.lr_mult = 2});
  const Symbol x = *op::Activation(w, {.act_type = "relu", .name = "w"})
                        .WithAttrs({{"__lr_mult__", "5"}, {"__wd_mult__", "7"}});
  EXPECT_EQ(x.AttrDict().at("w").at("__wd_mult__"), "7");
  EXPECT_EQ(x.VariableAttrDict(), Symbol(w).VariableAttrDict());
  EXPECT_EQ(x.VariableAttrDict().at("w").at("lr_mult"), "2");
}

// Passing an input enables the attribute for it.
TEST(FunctionsTest, LengthsAskForThemselves) {
  const Symbol x = Symbol::Variable("x"), lengths = Symbol::Variable("lengths");
  const Symbol said = op::CTCLoss(x, {.data_lengths = lengths,
                                      .label_lengths = lengths,
                                      .use_data_lengths = true,
                                      .use_label_lengths = true,
                                      .name = "ctc"});
  const Symbol meant =
      op::CTCLoss(x, {.data_lengths = lengths, .label_lengths = lengths, .name = "ctc"});
  COOPER_ASSERT_OK(said.status());
  COOPER_ASSERT_OK(meant.status());
  EXPECT_EQ(SymbolToJson(meant), SymbolToJson(said));
}

TEST(FunctionsTest, ErrorsNameNodeOperatorAndAttribute) {
  const Symbol x = Symbol::Variable("x");
  const struct {
    Symbol symbol;
    const char* error;
  } kCases[] = {
      {op::FullyConnected(x, {.name = "fc"}),
       "FullyConnected 'fc': attribute 'num_hidden' is required"},
      {op::FullyConnected(x, {.num_hidden = -1, .name = "fc"}),
       "FullyConnected 'fc': attribute num_hidden='-1': expected a value in"},
      {op::FullyConnected({}, {.num_hidden = 1, .name = "fc"}),
       "FullyConnected 'fc': input 'data' must be one output, but a symbol of 0 outputs came"},
      {op::FullyConnected(x, {.bias = x, .num_hidden = 1, .no_bias = true, .name = "fc"}),
       "FullyConnected 'fc': has no input 'bias'; its inputs are data, weight; with no_bias=False "
       "it has input 'bias'"},
      {op::CTCLoss(x, {.data_lengths = x, .name = "ctc", .attrs = {{"use_data_lengths", "0"}}}),
       "CTCLoss 'ctc': has no input 'data_lengths'; its inputs are data, label; with "
       "use_data_lengths=True it has input 'data_lengths'"},
      {op::FullyConnected(x, {.num_hidden = 1, .name = "fc", .attrs = {{"no_bais", "1"}}}),
       "FullyConnected 'fc': unknown attribute no_bais='1'; known are num_hidden, no_bias, "
       "flatten; did "
       "you mean 'no_bias'?"},
      {op::split(x, {.num_outputs = 2, .name = "s"})[2],
       "SliceChannel 's' has no output 2; its outputs are s_output0, s_output1"},
      {x[-1], "variable 'x' has no output -1; its outputs are x"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(c.symbol.status(), StatusIs(kInvalidArgument, HasSubstr(c.error)));
  }
}

TEST(FunctionsTest, MisspeltOperatorsHaveNearNames) {
  EXPECT_THAT(Symbol::Create("FullConnected", {}).status().message(),
              HasSubstr("did you mean 'FullyConnected'?"));
  EXPECT_THAT(Symbol::Create("NoSuchThing", {}).status().message(), Not(HasSubstr("did you mean")));
}

}  // namespace
}  // namespace cooper
