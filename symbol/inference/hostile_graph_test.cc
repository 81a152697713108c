// Symbol files that request much with few bytes or are invalid: they must be refused, or take time
// in proportion to their size.

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/stopwatch.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::ResultOf;
using ::testing::SizeIs;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kResourceExhausted = absl::StatusCode::kResourceExhausted;

// Operators for this test only.

// Returns prefix0, prefix1, ...
OpSchema::Names Numbered(const char* prefix, int64_t count) {
  OpSchema::Names names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return names;
}

struct PartsParam {
  int64_t num_outputs = 1;
  static void Declare(ParamDeclaration<PartsParam>& d) {
    d.Field("num_outputs", &PartsParam::num_outputs).Min(1).Max(1 << 16);
  }
};

COOPER_REGISTER_OP(Parts)
    .Param<PartsParam>()
    .Outputs([](const OpCall& call) {
      return Numbered("output", call.param<PartsParam>().num_outputs);
    })
    .Shape(SameShape)
    .Type(SameType);

struct ArraysParam {
  int64_t num_arrays = 1;
  static void Declare(ParamDeclaration<ArraysParam>& d) {
    d.Field("num_arrays", &ArraysParam::num_arrays).Min(1).Max(1 << 16);
  }
};

COOPER_REGISTER_OP(Arrays)
    .Param<ArraysParam>()
    .Inputs([](const OpCall& call) {
      return Numbered("array", call.param<ArraysParam>().num_arrays);
    })
    .Shape(SameShape)
    .Type(SameType);

int aux_inputs_asked = 0;  // of all nodes of Reset

// An operator that writes all of its inputs.
COOPER_REGISTER_OP(Reset)
    .Param<ArraysParam>()
    .Inputs([](const OpCall& call) {
      return Numbered("array", call.param<ArraysParam>().num_arrays);
    })
    .AuxInputs([](const OpCall& call) {
      ++aux_inputs_asked;
      std::vector<int> all(static_cast<size_t>(call.param<ArraysParam>().num_arrays));
      std::iota(all.begin(), all.end(), 0);
      return all;
    })
    .Shape(SameShape)
    .Type(SameType);

struct LengthsParam {
  bool use_data_lengths = false;
  bool use_label_lengths = false;
  static void Declare(ParamDeclaration<LengthsParam>& d) {
    d.Field("use_data_lengths", &LengthsParam::use_data_lengths);
    d.Field("use_label_lengths", &LengthsParam::use_label_lengths);
  }
};

COOPER_REGISTER_OP(Lengths)
    .Param<LengthsParam>()
    .Inputs([](const OpCall& call) {
      const auto& param = call.param<LengthsParam>();
      OpSchema::Names names = {"data"};
      if (param.use_data_lengths) names.push_back("data_lengths");
      if (param.use_label_lengths) names.push_back("label_lengths");
      return names;
    })
    .Shape(SameShape)
    .Type(SameType);

// An operator whose shape rule does not check that there are ten elements to remove.
COOPER_REGISTER_OP(Shorten)
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).IsFull()) return absl::OkStatus();
      return c.SetOutput(0, {c.input(0)[0] - 10}, "ten elements less");
    })
    .Type(SameType);

COOPER_REGISTER_OP(Sum).VariadicInputs("num_args").Shape(SameShape).Type(SameType);
COOPER_REGISTER_OP(_backward_Sum).Shape(GradientShape).Type(GradientType);
COOPER_REGISTER_OP(_sum_backward).Shape(GradientShape).Type(GradientType);

std::string Variable(const std::string& name, const std::string& attrs = "{}") {
  return absl::StrCat(R"({"op": "null", "name": ")", name, R"(", "attrs": )", attrs,
                      R"(, "inputs": []})");
}

std::string Graph(const std::vector<std::string>& nodes, const std::vector<std::string>& heads,
                  int version = 10901) {
  return absl::StrCat(R"({"nodes": [)", absl::StrJoin(nodes, ","), R"(], "heads": [)",
                      absl::StrJoin(heads, ","), R"(], "attrs": {"mxnet_version": ["int", )",
                      version, "]}}");
}

std::string Parts(const std::string& name, int64_t num_outputs) {
  return absl::StrCat(R"({"op": "Parts", "name": ")", name, R"(", "attrs": {"num_outputs": ")",
                      num_outputs, R"("}, "inputs": [[0, 0, 0]]})");
}

// Returns x0, x1, ... and their sum; each has attributes if `version` is old.
std::string Wide(int inputs, int version) {
  std::vector<std::string> nodes, entries, attrs = {absl::StrCat(R"("num_args": ")", inputs, "\"")};
  for (int i = 0; i < inputs; ++i) {
    nodes.push_back(Variable(absl::StrCat("x", i)));
    entries.push_back(absl::StrCat("[", i, ",0,0]"));
    if (version < 900) attrs.push_back(absl::StrCat("\"arg", i, "_lr_mult\": \"2\""));
  }
  nodes.push_back(absl::StrCat(R"({"op": "Sum", "name": "s", "attr": {)", absl::StrJoin(attrs, ","),
                               R"(}, "inputs": [)", absl::StrJoin(entries, ","), "]}"));
  return Graph(nodes, {absl::StrCat("[", inputs, ",0,0]")}, version);
}

TEST(HostileGraphTest, OperatorsOfGradientsAreMadeByDifferentiationOnly) {
  for (const char* op : {"_backward_Sum", "_sum_backward"}) {
    const std::string node =
        absl::StrCat(R"({"op": ")", op, R"(", "name": "g", "inputs": [[0, 0, 0]]})");
    EXPECT_THAT(SymbolFromJson(Graph({Variable("x"), node}, {"[1, 0, 0]"})),
                StatusIs(kInvalidArgument, AllOf(HasSubstr(op), HasSubstr("computes a gradient"))));
    EXPECT_THAT(Symbol::Create(op, {.name = "g", .inputs = {Symbol::Variable("x")}}),
                StatusIs(kInvalidArgument, HasSubstr("computes a gradient")));
  }
}

TEST(HostileGraphTest, EachLimitIsChecked) {
  const std::string two = Graph({Variable("x"), Parts("y", 3)}, {"[1, 0, 0]"});
  COOPER_EXPECT_OK(SymbolFromJson(two, {.text_bytes = static_cast<int64_t>(two.size()),
                                        .values = 60,
                                        .nesting = 5,
                                        .name_bytes = 1,
                                        .nodes = 2,
                                        .outputs = 4}));
  const struct {
    LoadLimits limits;
    const char* error;
  } kCases[] = {
      {{.text_bytes = 99}, "more than 99 bytes: LoadLimits::text_bytes"},
      {{.values = 20}, "more than 20 values: LoadLimits::values"},
      {{.name_bytes = 0}, "more than 0 bytes in the name of node 0: LoadLimits::name_bytes"},
      {{.nodes = 1}, "more than 1 nodes: LoadLimits::nodes"},
      {{.outputs = 3}, "with Parts 'y' there are 4 outputs, more than 3: LoadLimits::outputs"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(SymbolFromJson(two, c.limits), StatusIs(kResourceExhausted, HasSubstr(c.error)));
  }
  EXPECT_THAT(SymbolFromJson(two, {.nesting = 4}),
              StatusIs(kInvalidArgument, HasSubstr("deeper than 4 levels")));
}

// Loads 75 bytes that would become 65,536 variables, and files whose added variables and attributes
// exceed the limits of LoadLimits.
TEST(HostileGraphTest, WhatAnUpgradeAddsIsLimitedToo) {
  const Stopwatch stopwatch;
  const auto file = [](const std::string& attrs, int count, int version) {
    const std::vector<std::string> nodes(
        count, absl::StrCat(R"({"op": "Arrays", "name": "a", "attr": {"num_arrays": "65536")",
                            attrs, R"(}, "inputs": []})"));
    return Graph(nodes, {"[0,0,0]"}, version);
  };
  EXPECT_THAT(
      SymbolFromJson(file("", 1, 800), {.nodes = 10}),
      StatusIs(kResourceExhausted,
               AllOf(HasSubstr("Arrays 'a'"), HasSubstr("more than 10 nodes: LoadLimits::nodes"))));
  COOPER_EXPECT_OK(SymbolFromJson(file("", 1, 800)));
  EXPECT_THAT(SymbolFromJson(file("", 20, 800)),
              StatusIs(kResourceExhausted, HasSubstr("LoadLimits::nodes")));
  const std::string large = absl::StrCat(R"(, "__note__": ")", std::string(1 << 20, 'x'), "\"");
  EXPECT_THAT(SymbolFromJson(file(large, 1, 800)),
              StatusIs(kResourceExhausted, HasSubstr("LoadLimits::text_bytes")));
  EXPECT_THAT(SymbolFromJson(file(R"(, "__a__": "")", 1, 800), {.values = 1000}),
              StatusIs(kResourceExhausted, HasSubstr("LoadLimits::values")));
  // Hidden attributes are passed to inputs by name, whatever the version of the file.
  EXPECT_THAT(SymbolFromJson(file(R"(, "lr_mult": "2")", 50'000, 10900)),
              StatusIs(kResourceExhausted, HasSubstr("LoadLimits::nodes")));
}

// 80 bytes name 65,536 auxiliary states that are missing. The number is checked before the names
// are listed, which would take 0.3 ms for each such node.
TEST(HostileGraphTest, InputsAreCountedBeforeAnOperatorTellsOfThem) {
  const std::string reset =
      R"({"op": "Reset", "name": "r", "attrs": {"num_arrays": "65536"}, "inputs": []})";
  EXPECT_THAT(SymbolFromJson(Graph({Variable("x"), Variable("x"), reset, reset}, {"[0,0,0]"})),
              StatusIs(kInvalidArgument,
                       AllOf(HasSubstr("Reset 'r': takes 65536 inputs"), HasSubstr("but 0 came"))));
  EXPECT_EQ(aux_inputs_asked, 0);
}

// Loads 224 KB that request 131 million outputs.
TEST(HostileGraphTest, OutputsAreCountedOverAllNodes) {
  const Stopwatch stopwatch;
  std::vector<std::string> nodes = {Variable("x")}, heads;
  for (int i = 1; i <= 2000; ++i) {
    nodes.push_back(Parts(absl::StrCat("p", i), 1 << 16));
    heads.push_back(absl::StrCat("[", i, ",0,0]"));
  }
  EXPECT_THAT(SymbolFromJson(Graph(nodes, heads)),
              StatusIs(kResourceExhausted, HasSubstr("LoadLimits::outputs")));
}

// Errors must not list the names of all outputs for each output: that would take 45 s for 290 KB.
TEST(HostileGraphTest, AMessageDoesNotListThousandsOfOutputs) {
  Symbol x = Symbol::Variable("data");
  for (int i = 0; i < 3000; ++i) {
    x = *Symbol::Create("Sum", {.name = absl::StrCat("node", i), .inputs = {x, x}});
  }
  const absl::Status status = x.GetInternals().Get("node7").status();
  EXPECT_THAT(std::string(status.message().data(), status.message().size()),
              AllOf(HasSubstr("node2999_output and 2991 others"),
                    HasSubstr("did you mean 'node7_output'?"), SizeIs(Lt(1000))));
}

// The name must not be copied for each input.
TEST(HostileGraphTest, ALongNameCostsItsLengthOnce) {
  const Stopwatch stopwatch;
  constexpr int kInputs = 400'000;
  const std::string name(1 << 20, 'n');
  std::vector<std::string> entries(kInputs, "[0,0,0]");
  const std::string text =
      Graph({Variable("x"), absl::StrCat(R"({"op": "Sum", "name": ")", name, R"(", "inputs": [)",
                                         absl::StrJoin(entries, ","), "]}")},
            {"[1,0,0]"});
  COOPER_EXPECT_OK(SymbolFromJson(text, {.name_bytes = 1 << 20}));
  EXPECT_THAT(SymbolFromJson(text),
              StatusIs(kResourceExhausted, HasSubstr("more than 4096 bytes in the name of node 1: "
                                                     "LoadLimits::name_bytes")));
}

TEST(HostileGraphTest, ManyOutputsOfANodeAreNamedOnce) {
  const Stopwatch stopwatch;
  std::vector<std::string> heads;
  heads.reserve(20000);
  for (int i = 0; i < 20000; ++i) heads.push_back(absl::StrCat("[1,", i * 3, ",0]"));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol symbol,
                              SymbolFromJson(Graph({Variable("x"), Parts("p", 1 << 16)}, heads)));
  EXPECT_EQ(symbol.ListOutputs()[7], "p_output21");
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol last, symbol.Get("p_output59997"));
  EXPECT_EQ(last.outputs()[0].index, 59997);
  EXPECT_THAT(symbol.GetInternals().ListOutputs(), SizeIs(1 + (1 << 16)));
}

// Composition and upgrades must not look up attributes by input: that would take 31 s for 3.7 MB.
TEST(HostileGraphTest, ASumOfManyIsComposedInLinearTime) {
  const Stopwatch stopwatch;
  constexpr int kInputs = 50'000;
  for (const int version : {10901, 800}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol sum, SymbolFromJson(Wide(kInputs, version)));
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol composed,
                                sum.Compose({{"x7", Symbol::Variable("z")}}));
    EXPECT_THAT(composed.ListArguments(), SizeIs(kInputs));
    EXPECT_EQ(composed.ListArguments()[7], "z");
    EXPECT_THAT(sum.Compose({{"x7", Symbol::Variable("x8")}}),
                StatusIs(kInvalidArgument, HasSubstr("two different variables are called 'x8'")));
    std::vector<Symbol> inputs;
    inputs.reserve(kInputs + 1);
    for (int i = 0; i < kInputs; ++i) inputs.push_back(Symbol::Variable(absl::StrCat("x", i)));
    COOPER_EXPECT_OK(Symbol::Create("Sum", {.name = "t", .inputs = inputs}));
    inputs.push_back(Symbol::Variable("x9"));
    EXPECT_THAT(Symbol::Create("Sum", {.name = "t", .inputs = inputs}),
                StatusIs(kInvalidArgument, HasSubstr("two different variables are called 'x9'")));
    KnownShapes shapes;
    for (int i = 0; i < kInputs; ++i) shapes[absl::StrCat("x", i)] = {2, 3};
    COOPER_EXPECT_OK(InferShape(sum, shapes));
    shapes["x9"] = {4};
    EXPECT_THAT(InferShape(sum, shapes), StatusIs(kInvalidArgument, HasSubstr("x9")));
  }
}

// Composes a chain in which every node adds a variable.
TEST(HostileGraphTest, AChainOfManyVariablesIsComposedInLinearTime) {
  const Stopwatch stopwatch;
  constexpr int kNodes = 30'000;
  std::vector<std::string> nodes = {Variable("x0")};
  int last = 0;
  for (int i = 1; i < kNodes; ++i) {
    nodes.push_back(Variable(absl::StrCat("x", i)));
    nodes.push_back(absl::StrCat(R"({"op": "Sum", "name": "s)", i,
                                 R"(", "attrs": {"num_args": "2"}, "inputs": [[)", last, ",0,0],[",
                                 2 * i - 1, ",0,0]]}"));
    last = 2 * i;
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol chain,
                              SymbolFromJson(Graph(nodes, {absl::StrCat("[", last, ",0,0]")})));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol composed,
                              chain.Compose({{"x0", Symbol::Variable("z")}}));
  EXPECT_THAT(composed.ListArguments(), SizeIs(kNodes));
  COOPER_EXPECT_OK(Symbol::Create("Sum", {.inputs = {composed, composed}}));
  EXPECT_THAT(Symbol::Group({chain.GetInternals(), chain}),
              IsOkAndHolds(ResultOf([](const Symbol& s) { return s.num_outputs(); }, 2 * kNodes)));
}

// WithAttrs refuses attributes that change the number of outputs.
TEST(HostileGraphTest, AttributesChangeNoInputsOrOutputs) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol parts,
                              SymbolFromJson(Graph({Variable("x"), Parts("p", 3)}, {"[1,0,0]"})));
  EXPECT_THAT(parts.WithAttrs({{"num_outputs", "2"}}),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("Parts 'p'"),
                                               HasSubstr("1 inputs and 2 outputs, expected 1 and "
                                                         "3 as before"))));
  EXPECT_THAT(parts.WithAttrs({{"num_outputs", "0"}}),
              StatusIs(kInvalidArgument, HasSubstr("num_outputs='0'")));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol same,
                              parts.WithAttrs({{"num_outputs", "3"}, {"__lr_mult__", "2"}}));
  EXPECT_EQ(same.Attr("__lr_mult__"), "2");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol sum,
      Symbol::Create("Sum", {.name = "s", .inputs = {Symbol::Variable("y"), parts}}));
  EXPECT_THAT(sum.WithAttrs({{"num_args", "3"}}),
              StatusIs(kInvalidArgument, HasSubstr("3 inputs")));
}

// WithAttrs refuses attributes that change the meaning of an input.
TEST(HostileGraphTest, AttributesLeaveInputsWhatTheyAre) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol lengths,
      Symbol::Create("Lengths", {.name = "l",
                                 .inputs = {Symbol::Variable("x"), Symbol::Variable("n")},
                                 .attrs = {{"use_data_lengths", "True"}}}));
  EXPECT_THAT(
      lengths.WithAttrs({{"use_data_lengths", "False"}, {"use_label_lengths", "True"}}),
      StatusIs(kInvalidArgument, HasSubstr("Lengths 'l': with these attributes input 1 would be "
                                           "'label_lengths', expected 'data_lengths' as before")));
  COOPER_EXPECT_OK(lengths.WithAttrs({{"use_data_lengths", "1"}}));
}

// A chain whose nodes are listed in the order 1, n, 2, n - 1, ...: a sweep over all nodes, forward
// or backward, advances by one step only.
struct ZigzagChain {
  std::vector<Symbol> variables, steps;  // step i of the chain is the sum of variables i and i + 1

  explicit ZigzagChain(int num_steps) : steps(num_steps) {
    for (int i = 0; i <= num_steps; ++i) {
      variables.push_back(Symbol::Variable(absl::StrCat("x", i)));
    }
    for (int i = 0; i < num_steps; ++i) {
      const int place = i % 2 == 0 ? i / 2 : num_steps - 1 - i / 2;
      steps[place] = *Symbol::Create(
          "Sum", {.name = absl::StrCat("s", i), .inputs = {variables[i], variables[i + 1]}});
    }
  }
};

TEST(HostileGraphTest, ShapesAreInferredInLinearTimeInAnyOrder) {
  const Stopwatch stopwatch;
  const ZigzagChain zigzag(200'000);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol chain, Symbol::Group(zigzag.steps));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(chain, {{"x0", {2, 3}}}));
  EXPECT_THAT(shapes.outputs, Each(PartialShape({2, 3})));
}

// Infers the shapes of a zigzag chain and of one node that every step of the chain wakes. Visiting
// the wide node each time would take 10 s for 2.5 MB.
TEST(HostileGraphTest, AWideNodeIsLookedAtLast) {
  const Stopwatch stopwatch;
  ZigzagChain zigzag(50'000);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol all,
                              Symbol::Create("Sum", {.inputs = zigzag.variables}));
  zigzag.steps.push_back(all);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol chain, Symbol::Group(zigzag.steps));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(chain, {{"x0", {2, 3}}}));
  EXPECT_THAT(shapes.outputs, Each(PartialShape({2, 3})));
}

// Composes a network in which each node has the variables of all nodes before it.
TEST(HostileGraphTest, LayersWithVariablesOfTheirOwnAreComposedInLinearTime) {
  const Stopwatch stopwatch;
  constexpr int kLayers = 30'000;
  const Symbol first = Symbol::Variable("x0");
  Symbol last = first;
  for (int i = 1; i < kLayers; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        last, Symbol::Create("Sum", {.name = absl::StrCat("s", i),
                                     .inputs = {last, Symbol::Variable(absl::StrCat("x", i))}}));
  }
  EXPECT_THAT(last.ListArguments(), SizeIs(kLayers));
  COOPER_EXPECT_OK(Symbol::Create("Sum", {.inputs = {last, first}}));
  for (const int i : {0, 1, 777, kLayers - 1}) {
    EXPECT_THAT(Symbol::Create("Sum", {.inputs = {last, Symbol::Variable(absl::StrCat("x", i))}}),
                StatusIs(kInvalidArgument, HasSubstr("two different variables")));
  }
}

// Every node stores its shape: without the limit 250 kB would take 4 GB.
TEST(HostileGraphTest, AxesAreLimited) {
  const Symbol wide = Symbol::Variable(
      "x", {.shape = PartialShape(std::vector<int64_t>(ShapeContext::kMaxRank + 1, 1))});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol sum, Symbol::Create("Sum", {.inputs = {wide}}));
  EXPECT_THAT(InferShape(sum, {}), StatusIs(kInvalidArgument, HasSubstr("'x' has 65 axes")));
  const Symbol most = Symbol::Variable(
      "x", {.shape = PartialShape(std::vector<int64_t>(ShapeContext::kMaxRank, 1))});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol fits, Symbol::Create("Sum", {.inputs = {most}}));
  COOPER_EXPECT_OK(InferShape(fits, {}));
}

// A negative extent must not become known, since the rules of other operators compute with it.
TEST(HostileGraphTest, NoRuleMakesANegativeExtentKnown) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol shorter,
      Symbol::Create("Shorten", {.name = "s", .inputs = {Symbol::Variable("x")}}));
  COOPER_EXPECT_OK(InferShape(shorter, {{"x", {10}}}));
  EXPECT_THAT(InferShapePartial(shorter, {{"x", {3}}}),
              StatusIs(kInvalidArgument,
                       HasSubstr("Shorten 's': output 'output' would have shape (-7,) = ten "
                                 "elements less, which has a negative extent; inputs: data 'x' "
                                 "(3,)")));
}

// The number of inputs may be written in every form that is accepted.
TEST(HostileGraphTest, WhatIsComposedIsLoadedAgain) {
  for (const char* count : {"2", " 2", "+2", "2L"}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const Symbol sum,
        Symbol::Create("Sum", {.name = "s",
                               .inputs = {Symbol::Variable("x"), Symbol::Variable("y")},
                               .attrs = {{"num_args", count}}}));
    COOPER_EXPECT_OK(SymbolFromJson(SymbolToJson(sum))) << count;
  }
}

}  // namespace
}  // namespace cooper
