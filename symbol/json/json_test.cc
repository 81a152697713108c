#include "symbol/json/json.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Operators for this test only.

struct DenseParam {
  int64_t num_hidden = 0;
  bool no_bias = false;
  static void Declare(ParamDeclaration<DenseParam>& d) {
    d.Field("num_hidden", &DenseParam::num_hidden).Required().Min(1);
    d.Field("no_bias", &DenseParam::no_bias);
  }
};

COOPER_REGISTER_OP(Dense)
    .Param<DenseParam>()
    .Inputs({"data", "weight"})
    .Shape([](ShapeContext&) { return absl::OkStatus(); })
    .Type(SameType);

COOPER_REGISTER_OP(Norm)
    .Inputs({"data", "gamma", "moving_mean"})
    .AuxInputs([](const OpCall&) { return std::vector<int>{2}; })
    .Outputs({"output", "mean"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .VariableAttrs([](const OpCall&, int i) {
      return i == 2 ? AttrMap{{"__init__", "[\"zero\", {}]"}} : AttrMap{};
    })
    .Shape([](ShapeContext&) { return absl::OkStatus(); })
    .Type(SameType);

struct AxisParam {
  std::optional<int64_t> axis;
  static void Declare(ParamDeclaration<AxisParam>& d) { d.Field("axis", &AxisParam::axis); }
};

COOPER_REGISTER_OP(argmax).Param<AxisParam>().Shape(SameShape).Type(SameType).UpgradeAttrs(
    [](int version, AttrMap& attrs) {
      if (version < 905) attrs.erase("axis");
    });

COOPER_REGISTER_OP(Scale).Inputs({"data", "a"}).Shape(SameShape).Type(SameType);

COOPER_REGISTER_OP(Join).VariadicInputs("num_args").Shape(SameShape).Type(SameType);

// Returns a graph of one Dense as some version of MXNet writes it: `dense_attrs` has the attributes
// of the node, `graph_attrs` those of the graph.
std::string DenseFile(const std::string& dense_attrs, const std::string& graph_attrs) {
  return absl::StrCat(R"({"nodes": [
      {"op": "null", "name": "data", "inputs": []},
      {"op": "null", "name": "fc_weight", "inputs": []},
      {"op": "Dense", "name": "fc", )",
                      dense_attrs, R"(, "inputs": [[0, 0], [1, 0]]}],
      "arg_nodes": [0, 1], "heads": [[2, 0]])",
                      graph_attrs, "}");
}

TEST(JsonTest, WritesTheLayoutOfMXNet) {
  NodePtr data, mean, gamma;
  for (auto [node, name] : {std::pair{&data, "da\"ta\\\n"}, {&gamma, "g"}, {&mean, "m"}}) {
    *node = Symbol::Variable(name).outputs()[0].node;
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      Symbol norm, Symbol::Create("Norm", {.name = "bn",
                                           .inputs = {Symbol({{data, 0}}), Symbol({{gamma, 0}}),
                                                      Symbol({{mean, 0}})},
                                           .named = {},
                                           .attrs = {{"__b__", "1"}, {"__a__", "x"}}}));
  // MXNet ends lines with ", ": the tildes stand for spaces that editors would remove.
  const std::string expected = absl::StrReplaceAll(R"({
  "nodes": [
    {
      "op": "null",~
      "name": "da\"ta\\\n",~
      "inputs": []
    },~
    {
      "op": "null",~
      "name": "g",~
      "inputs": []
    },~
    {
      "op": "null",~
      "name": "m",~
      "attrs": {"__init__": "[\"zero\", {}]"},~
      "inputs": []
    },~
    {
      "op": "Norm",~
      "name": "bn",~
      "attrs": {
        "__a__": "x",~
        "__b__": "1"
      },~
      "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 1]]
    }
  ],~
  "arg_nodes": [0, 1, 2],~
  "node_row_ptr": [0, 1, 2, 3, 5],~
  "heads": [[3, 0, 0]],~
  "attrs": {"mxnet_version": ["int", 10901]}
})",
                                                   {{"~", " "}});
  EXPECT_EQ(SymbolToJson(norm), expected);
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol again, SymbolFromJson(expected));
  EXPECT_EQ(SymbolToJson(again), expected);
  EXPECT_THAT(again.ListAuxiliaryStates(), ElementsAre("m"));
}

TEST(JsonTest, WritesLongListsOnSeveralLines) {
  std::vector<Symbol> inputs;
  inputs.reserve(11);
  for (int i = 0; i < 11; ++i) inputs.push_back(Symbol::Variable(absl::StrCat("x", i)));
  COOPER_ASSERT_OK_AND_ASSIGN(
      Symbol ten,
      Symbol::Create(
          "Join",
          {.name = "j", .inputs = {inputs.begin(), inputs.end() - 1}, .named = {}, .attrs = {}}));
  EXPECT_THAT(SymbolToJson(ten), HasSubstr("\"arg_nodes\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], \n"));
  EXPECT_THAT(SymbolToJson(ten), HasSubstr("\"attrs\": {\"num_args\": \"10\"}, \n"));
  COOPER_ASSERT_OK_AND_ASSIGN(
      Symbol eleven,
      Symbol::Create("Join", {.name = "j", .inputs = inputs, .named = {}, .attrs = {}}));
  EXPECT_THAT(SymbolToJson(eleven), HasSubstr("\"arg_nodes\": [\n    0, \n    1, \n"));
  EXPECT_THAT(SymbolToJson(eleven), HasSubstr("\"inputs\": [\n        [0, 0, 0], \n"));
  EXPECT_THAT(SymbolToJson(eleven), HasSubstr("        [10, 0, 0]\n      ]\n    }\n  ], \n"));
}

TEST(JsonTest, ReadsEveryAge) {
  struct Case {
    const char* name;
    const char* dense_attrs;
    const char* graph_attrs;
  };
  const Case cases[] = {
      {"V0_8", R"("param": {"num_hidden": "4"}, "backward_source_id": -1)", ""},
      {"V0_9", R"("attr": {"num_hidden": "4"})", R"(, "attrs": {"mxnet_version": ["int", 904]})"},
      {"V1_9", R"("attrs": {"num_hidden": "4"})",
       R"(, "attrs": {"mxnet_version": ["int", 10901]})"},
      {"V2_0", R"("attrs": {"num_hidden": "4"})",
       R"(, "attrs": {"mxnet_version": ["int", 20000]})"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    COOPER_ASSERT_OK_AND_ASSIGN(Symbol symbol,
                                SymbolFromJson(DenseFile(c.dense_attrs, c.graph_attrs)));
    EXPECT_THAT(symbol.ListArguments(), ElementsAre("data", "fc_weight"));
    EXPECT_THAT(symbol.ListAttr(), UnorderedElementsAre(Pair("num_hidden", "4")));
  }
}

TEST(JsonTest, HidesAttributesOfOldFiles) {
  const std::string attrs =
      R"("attr": {"num_hidden": "4", "lr_mult": "0.1", "weight_wd_mult": "0.2",
                  "ctx_group": "a"})";
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol symbol, SymbolFromJson(DenseFile(attrs, "")));
  EXPECT_THAT(symbol.ListAttr(),
              UnorderedElementsAre(Pair("num_hidden", "4"), Pair("__lr_mult__", "0.1"),
                                   Pair("__ctx_group__", "a")));
  EXPECT_THAT(symbol.AttrDict().at("fc_weight"), testing::Contains(Pair("__wd_mult__", "0.2")));
  // An input's name may be one letter.
  COOPER_ASSERT_OK_AND_ASSIGN(symbol, SymbolFromJson(R"({"nodes": [
      {"op": "null", "name": "data", "inputs": []}, {"op": "null", "name": "v", "inputs": []},
      {"op": "Scale", "name": "s", "attr": {"a_lr_mult": "0.5"}, "inputs": [[0, 0], [1, 0]]}],
      "heads": [[2, 0]]})"));
  EXPECT_THAT(symbol.AttrDict().at("v"), testing::Contains(Pair("__lr_mult__", "0.5")));
  // An attribute for an input that the operator does not have is unknown.
  EXPECT_THAT(SymbolFromJson(DenseFile(R"("attr": {"num_hidden": "4", "x_lr_mult": "3"})", "")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x_lr_mult")));
  // MXNet 1.9.1 writes no such attributes: in its files they are unknown.
  EXPECT_THAT(SymbolFromJson(DenseFile(attrs, R"(, "attrs": {"mxnet_version": ["int", 10901]})")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Dense 'fc'")));
}

std::string NormFile(int version) {
  return absl::StrCat(R"({"nodes": [
      {"op": "null", "name": "data", "inputs": []},
      {"op": "null", "name": "gamma", "inputs": []},)",
                      version < 900 ? "" : R"({"op": "null", "name": "mean", "inputs": []},)",
                      R"({"op": "Norm", "name": "bn", "attr": {"lr_mult": "2"}, "inputs": )",
                      version < 900 ? "[[0, 0], [1, 0]]}]" : "[[0, 0], [1, 0], [2, 0]]}]",
                      R"(, "heads": [[)", version < 900 ? 2 : 3,
                      R"(, 0]], "attrs": {"mxnet_version": ["int", )", version, "]}}");
}

TEST(JsonTest, AddsAuxiliaryStatesBefore0_9) {
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol symbol, SymbolFromJson(NormFile(800)));
  EXPECT_THAT(symbol.ListArguments(), ElementsAre("data", "gamma"));
  EXPECT_THAT(symbol.ListAuxiliaryStates(), ElementsAre("bn_moving_mean"));
  EXPECT_THAT(symbol.ListOutputs(), ElementsAre("bn_output"));
  EXPECT_THAT(
      symbol.AttrDict().at("bn_moving_mean"),
      testing::IsSupersetOf({Pair("__init__", "[\"zero\", {}]"), Pair("__lr_mult__", "2")}));
}

TEST(JsonTest, AddsInitializersBefore0_9_4) {
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol symbol, SymbolFromJson(NormFile(903)));
  EXPECT_THAT(symbol.AttrDict().at("mean"), ElementsAre(Pair("__init__", "[\"zero\", {}]")));
  COOPER_ASSERT_OK_AND_ASSIGN(symbol, SymbolFromJson(NormFile(904)));
  EXPECT_FALSE(symbol.AttrDict().contains("mean"));
}

// As in MXNet, an operator's attributes for an input are added to its variable, also to one that
// exists already, but do not override attributes of the variable or of the operator.
TEST(JsonTest, VariablesOfAnInputHaveItsAttributes) {
  const Symbol data = Symbol::Variable("data"), mean = Symbol::Variable("mean");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol given,
      Symbol::Create("Norm", {.inputs = {data}, .named = {{"moving_mean", mean}}}));
  EXPECT_THAT(given.AttrDict().at("mean"), ElementsAre(Pair("__init__", "[\"zero\", {}]")));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol loaded, SymbolFromJson(SymbolToJson(given)));
  EXPECT_EQ(loaded.AttrDict(), given.AttrDict());

  const Symbol ones = Symbol::Variable("mean", {.init = "[\"one\", {}]"});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol own,
      Symbol::Create("Norm", {.inputs = {data}, .named = {{"moving_mean", ones}}}));
  EXPECT_EQ(own.AttrDict().at("mean").at("__init__"), "[\"one\", {}]");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol of_operator,
      Symbol::Create("Norm", {.name = "n", .inputs = {data}, .attrs = {{"__init__", "x"}}}));
  EXPECT_EQ(of_operator.AttrDict().at("n_moving_mean").at("__init__"), "x");
}

TEST(JsonTest, AuxiliaryStatesAreVariables) {
  const Symbol data = Symbol::Variable("data");
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol joined,
                              Symbol::Create("Join", {.name = "j", .inputs = {data}}));
  EXPECT_THAT(
      Symbol::Create("Norm", {.name = "n", .inputs = {data}, .named = {{"moving_mean", joined}}}),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          HasSubstr("Norm 'n': input 'moving_mean' is an auxiliary state: expected a variable, "
                    "but Join 'j' came")));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol norm,
                              Symbol::Create("Norm", {.name = "n", .inputs = {data}}));
  EXPECT_THAT(norm.Compose({{"n_moving_mean", joined}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("auxiliary state")));
  EXPECT_THAT(SymbolFromJson(R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "Join", "name": "j", "attrs": {"num_args": "1"}, "inputs": [[0, 0, 0]]},
      {"op": "Norm", "name": "n", "inputs": [[0, 0, 0], [0, 0, 0], [1, 0, 0]]}],
      "heads": [[2, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("auxiliary state")));
}

TEST(JsonTest, HiddenAttributesMayBeGivenBare) {
  const Symbol x = Symbol::Variable("x", {.attrs = {{"lr_mult", "2"}, {"note", "a"}}});
  EXPECT_EQ(x.AttrDict().at("x").at("__lr_mult__"), "2");
  EXPECT_EQ(x.ListAttr().at("note"), "a");
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, x.WithAttrs({{"lr_mult", "3"}}));
  EXPECT_EQ(again.ListAttr().at("__lr_mult__"), "3");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol joined,
      Symbol::Create("Join", {.name = "j", .inputs = {x}, .attrs = {{"ctx_group", "d1"}}}));
  EXPECT_EQ(joined.ListAttr().at("__ctx_group__"), "d1");
}

TEST(JsonTest, OperatorsUpgradeTheirAttributes) {
  const std::string text = R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "argmax", "name": "am", "attr": {"axis": "-1"}, "inputs": [[0, 0]]}],
      "heads": [[1, 0]], "attrs": {"mxnet_version": ["int", VERSION]}})";
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol old,
                              SymbolFromJson(absl::StrReplaceAll(text, {{"VERSION", "904"}})));
  EXPECT_THAT(old.ListAttr(), IsEmpty());
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol current,
                              SymbolFromJson(absl::StrReplaceAll(text, {{"VERSION", "905"}})));
  EXPECT_THAT(current.ListAttr(), ElementsAre(Pair("axis", "-1")));
}

// Returns a file with two nodes: the variable x and `node`.
std::string TwoNodes(const std::string& node, const std::string& heads = "[[1, 0]]") {
  return absl::StrCat(R"({"nodes": [{"op": "null", "name": "x", "inputs": []}, )", node,
                      R"(], "heads": )", heads, R"(, "attrs": {"mxnet_version": ["int", 10901]}})");
}

// Returns a Norm with data called x, moving_mean called `mean`, and a third variable x.
std::string ArgumentAndState(const std::string& mean) {
  return absl::StrCat(R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "null", "name": "gamma", "inputs": []},
      {"op": "null", "name": ")",
                      mean, R"(", "inputs": []},
      {"op": "Norm", "name": "bn", "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 1]]},
      {"op": "null", "name": "x", "inputs": []}], "heads": [[3, 0, 0], [4, 0, 0]],
      "attrs": {"mxnet_version": ["int", 10901]}})");
}

TEST(JsonTest, VariablesOfOneNameAreOne) {
  const std::string text = R"({"nodes": [
      {"op": "null", "name": "x", "attrs": {"__lr_mult__": "2", "__init__": "a"}, "inputs": []},
      {"op": "null", "name": "x", "attrs": {"__wd_mult__": "3", "__init__": "b"}, "inputs": []},
      {"op": "Join", "name": "j", "attrs": {"num_args": "2"}, "inputs": [[0, 0, 0], [1, 0, 0]]},
      {"op": "null", "name": "x", "inputs": []}], "heads": [[2, 0, 0], [3, 0, 0]],
      "attrs": {"mxnet_version": ["int", 10901]}})";
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol symbol, SymbolFromJson(text));
  EXPECT_THAT(symbol.ListArguments(), ElementsAre("x"));
  EXPECT_THAT(symbol.ListOutputs(), ElementsAre("j_output", "x"));
  const NodePtr join = symbol.outputs()[0].node;
  EXPECT_EQ(join->inputs()[0], join->inputs()[1]);
  EXPECT_EQ(symbol.outputs()[1], join->inputs()[0]);
  // The last value of an attribute wins.
  EXPECT_THAT(symbol.AttrDict().at("x"),
              testing::IsSupersetOf(
                  {Pair("__lr_mult__", "2"), Pair("__wd_mult__", "3"), Pair("__init__", "b")}));
  // Composition still refuses two variables of one name.
  EXPECT_THAT(Symbol::Group({symbol, Symbol::Variable("x")}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x'")));
  COOPER_ASSERT_OK_AND_ASSIGN(symbol, SymbolFromJson(ArgumentAndState("mean")));
  EXPECT_THAT(symbol.ListArguments(), ElementsAre("x", "gamma"));
}

// Returns two Norms that share an auxiliary state and a node that reads it, with `versions` of the
// state.
std::string SharedState(const std::vector<int>& versions) {
  std::string text = R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "null", "name": "g", "inputs": []}, {"op": "null", "name": "m", "inputs": []})";
  for (int i = 0; i < 2; ++i) {
    absl::StrAppend(&text, R"(, {"op": "Norm", "name": "n)", i,
                    R"(", "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, )", versions[i], "]]}");
  }
  absl::StrAppend(&text, R"(, {"op": "argmax", "name": "read", "inputs": [[2, 0, )", versions[2],
                  R"(]]}], "heads": [[3, 0, 0], [4, 0, 0], [5, 0, 0]],
      "attrs": {"mxnet_version": ["int", 10901]}})");
  return text;
}

TEST(JsonTest, KeepsTheVersionsOfInputs) {
  for (const std::vector<int>& versions :
       std::vector<std::vector<int>>{{1, 2, 2}, {2, 1, 1}, {2, 1, 0}, {0, 0, 0}}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol symbol, SymbolFromJson(SharedState(versions)));
    const std::string saved = SymbolToJson(symbol);
    EXPECT_THAT(saved,
                HasSubstr(absl::StrCat("[[0, 0, 0], [1, 0, 0], [2, 0, ", versions[0], "]]")));
    EXPECT_THAT(saved,
                HasSubstr(absl::StrCat("[[0, 0, 0], [1, 0, 0], [2, 0, ", versions[1], "]]")));
    EXPECT_THAT(saved, HasSubstr(absl::StrCat("\"inputs\": [[2, 0, ", versions[2], "]]")));
  }
}

TEST(JsonTest, CountsTheVersionsOfNewNodes) {
  const Symbol state = Symbol::Variable("m");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol first,
      Symbol::Create(
          "Norm", {.name = "n0", .inputs = {Symbol::Variable("x"), Symbol::Variable("g"), state}}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol second,
      Symbol::Create("Norm", {.name = "n1", .inputs = {first, Symbol::Variable("h"), state}}));
  const std::string saved = SymbolToJson(second);
  EXPECT_THAT(saved, HasSubstr("[[0, 0, 0], [1, 0, 0], [2, 0, 1]]"));
  EXPECT_THAT(saved, HasSubstr("[[3, 0, 0], [4, 0, 0], [2, 0, 2]]"));
}

TEST(JsonTest, RefusesWhatIsNoSymbol) {
  struct Case {
    const char* name;
    std::string text;
    const char* message;
  };
  const Case cases[] = {
      {"Empty", "", "the text is not JSON: the file is empty"},
      {"Text", "hello", "the text is not JSON: the file is text that begins with 'hello'"},
      {"Cut", R"({"nodes": [)", "is not JSON: [json.exception"},
      {"Params", std::string("\x12\1\0\0\0\0\0\0", 8),
       "is not JSON: the file is a list of arrays (.params); are two paths swapped?"},
      {"List", "[]", "is not a JSON object"},
      {"NoNodes", R"({"heads": []})", "the graph has no 'nodes'"},
      {"NoHeads", R"({"nodes": []})", "the graph has no 'heads'"},
      {"NodesText", R"({"nodes": "x", "heads": []})", "'nodes' is not a list"},
      {"NodeNumber", R"({"nodes": [3], "heads": []})", "node 0 is not an object"},
      {"NoName", TwoNodes(R"({"op": "null", "inputs": []})"), "node 1 has no 'name'"},
      {"NoOp", TwoNodes(R"({"name": "y", "inputs": []})"), "node 1 'y' has no 'op'"},
      {"NoInputs", TwoNodes(R"({"op": "null", "name": "y"})"), "node 1 'y' has no 'inputs'"},
      {"VariableInputs", TwoNodes(R"({"op": "null", "name": "y", "inputs": [[0, 0]]})"),
       "is a variable with inputs"},
      {"AttrNumber", TwoNodes(R"({"op": "null", "name": "y", "attrs": {"a": 1}, "inputs": []})"),
       "'attrs': 'a' is not a string"},
      {"SelfCycle", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[1, 0]]})"),
       "node 1 'y' input 0 refers to node 1"},
      {"Negative", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[-1, 0]]})"), "has -1"},
      {"Fraction", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[0.5, 0]]})"), "has 0.5"},
      {"Huge", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[4294967296, 0]]})"),
       "has 4294967296"},
      {"EmptyEntry", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[]]})"), "is not a pair"},
      {"Arity", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[0, 0], [0, 0]]})"),
       "argmax 'y': takes 1 inputs (data), but 2 came"},
      {"OutputNumber", TwoNodes(R"({"op": "argmax", "name": "y", "inputs": [[0, 7]]})"),
       "argmax 'y': input 'data' refers to output 7 of variable 'x', which has 1"},
      {"HeadNode", TwoNodes(R"({"op": "null", "name": "y", "inputs": []})", "[[2, 0]]"),
       "head 0 refers to node 2"},
      {"HeadOutput", TwoNodes(R"({"op": "null", "name": "y", "inputs": []})", "[[1, 9]]"),
       "head 0 refers to output 9"},
      {"AttrValue",
       TwoNodes(R"({"op": "argmax", "name": "y", "attrs": {"axis": "z"}, "inputs": [[0, 0]]})"),
       "argmax 'y': attribute axis='z'"},
      {"ManyInputs",
       TwoNodes(
           R"({"op": "Join", "name": "y", "attrs": {"num_args": "2000000000"}, "inputs": []})"),
       "Join 'y': has 0 inputs, but num_args='2000000000'"},
      {"DuplicateName", ArgumentAndState("x"),
       "two different variables are called 'x', and one of them is an auxiliary state"},
      {"Version", R"({"nodes": [], "heads": [], "attrs": {"mxnet_version": "new"}})",
       "mxnet_version is not of the form"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(SymbolFromJson(c.text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  }
}

TEST(JsonTest, NamesTheOperatorThatIsNotLinked) {
  EXPECT_THAT(SymbolFromJson(TwoNodes(R"({"op": "Dens", "name": "fc", "inputs": []})")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("Dens 'fc': no operator 'Dens'")));
}

TEST(JsonTest, RefusesControlFlow) {
  EXPECT_THAT(SymbolFromJson(TwoNodes(
                  R"({"op": "_loop", "name": "branch", "inputs": [], "subgraphs": [{"nodes": [],
              "heads": []}]})")),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("'branch' (_loop)")));
}

TEST(JsonTest, DeepNestingIsRefusedBeforeItIsParsed) {
  EXPECT_THAT(SymbolFromJson(std::string(1000000, '[')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("deeper than")));
  // Brackets inside strings are no nesting.
  COOPER_EXPECT_OK(SymbolFromJson(TwoNodes(absl::StrCat(
      R"({"op": "null", "name": "\")", std::string(1000, '['), R"(", "inputs": []})"))));
}

TEST(JsonTest, EveryCutIsRefused) {
  const std::string text = SymbolToJson(*SymbolFromJson(NormFile(904)));
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(SymbolFromJson(absl::string_view(text).substr(0, length)).ok()) << length;
  }
}

TEST(JsonTest, ALongChainNeedsNoDeepStack) {
  Symbol symbol = Symbol::Variable("x");
  for (int i = 0; i < 20000; ++i) {
    auto next = Symbol::Create(
        "argmax", {.name = absl::StrCat("n", i), .inputs = {symbol}, .named = {}, .attrs = {}});
    COOPER_ASSERT_OK_AND_ASSIGN(symbol, std::move(next));
  }
  const std::string text = SymbolToJson(symbol);
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol again, SymbolFromJson(text));
  EXPECT_EQ(SymbolToJson(again), text);
}

// Names that cannot be loaded again are not saved.
TEST(JsonTest, NamesThatWouldNotBeReadAreNotSaved) {
  const std::string path = testing::TempDir() + "/long_names.json";
  EXPECT_THAT(SaveSymbol(path, Symbol::Variable(std::string(4097, 'n'))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4097 bytes")));
  COOPER_ASSERT_OK(SaveSymbol(path, Symbol::Variable(std::string(4096, 'n'))));
  COOPER_EXPECT_OK(LoadSymbol(path));
}

TEST(JsonTest, TextsThatAreNotUtf8AreNotSaved) {
  const std::string path = ::testing::TempDir() + "/texts-symbol.json";
  for (const char* text : {"\xff", "a\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xe2\x82!", "\x80"}) {
    EXPECT_THAT(SaveSymbol(path, Symbol::Variable(text)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("texts-symbol.json"), HasSubstr("the name of variable '"),
                               HasSubstr("is not UTF-8"))));
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol x, Symbol::Variable("x").WithAttrs({{"__a__", text}}));
    EXPECT_THAT(SaveSymbol(path, x), StatusIs(absl::StatusCode::kInvalidArgument,
                                              HasSubstr("attribute '__a__' of variable 'x'")));
  }
  std::string control;
  for (char c = 0; c < 0x20; ++c) control.push_back(c);
  for (const std::string& text :
       {control, std::string("\x7f\xc3\xa9\xe2\x82\xac\xef\xbf\xbf\xf0\x90\x80\x80")}) {
    COOPER_ASSERT_OK(SaveSymbol(path, Symbol::Variable(text)));
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, LoadSymbol(path));
    EXPECT_THAT(again.ListArguments(), ElementsAre(text));
  }
}

// Control characters are read unescaped, as MXNet 1.9.1 writes them, and escaped, as in JSON.
TEST(JsonTest, ControlCharactersAreThemselves) {
  const std::string name = "a\x01\x0b\x1f\t\n\r\"\\b";
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol x,
                              Symbol::Variable(name).WithAttrs({{"__k__", "v\x02"}}));
  const std::string text = SymbolToJson(x);
  EXPECT_THAT(text, HasSubstr("\"a\x01\x0b\x1f\\t\\n\\r\\\"\\\\b\""));
  EXPECT_THAT(text, HasSubstr("{\"__k__\": \"v\x02\"}"));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, SymbolFromJson(text));
  EXPECT_THAT(again.ListArguments(), ElementsAre(name));
  EXPECT_EQ(again.Attr("__k__"), "v\x02");

  const auto read = [](const std::string& quoted) {
    return SymbolFromJson(
        absl::StrCat(R"({"nodes": [{"op": "null", "name": ")", quoted,
                     R"(", "inputs": []}], "arg_nodes": [0], "heads": [[0, 0]]})"));
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol raw, read("a\x01\tb"));
  EXPECT_THAT(raw.ListArguments(), ElementsAre("a\x01\tb"));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol escaped, read(R"(a\u0001\tb)"));
  EXPECT_THAT(escaped.ListArguments(), ElementsAre("a\x01\tb"));
  for (const char* refused : {"a\nb", "a\rb", "a\\\x01"}) {
    EXPECT_THAT(read(refused),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not JSON")));
  }
}

TEST(JsonTest, FilesAreNamedInErrors) {
  const std::string path = ::testing::TempDir() + "/net-symbol.json";
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol symbol, SymbolFromJson(NormFile(904)));
  COOPER_ASSERT_OK(SaveSymbol(path, symbol));
  COOPER_ASSERT_OK_AND_ASSIGN(Symbol loaded, LoadSymbol(path));
  EXPECT_THAT(loaded.ListOutputs(), ElementsAre("bn_output"));
  EXPECT_THAT(LoadSymbol(path, {.text_bytes = 10}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("net-symbol.json"), HasSubstr("LoadLimits::text_bytes"))));
  COOPER_ASSERT_OK(WriteFileAtomically(path, "{"));
  EXPECT_THAT(LoadSymbol(path),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("net-symbol.json")));
}

}  // namespace
}  // namespace cooper
