// Symbol files that ask for much with few bytes, or name what no file may: they are refused, or
// cost time in proportion to their size.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"
#include "symbol/infer_shape.h"
#include "symbol/json.h"
#include "symbol/op.h"
#include "symbol/shape_context.h"
#include "symbol/symbol.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kResourceExhausted = absl::StatusCode::kResourceExhausted;

// Operators of this test's own.

struct PartsParam {
  int64_t num_outputs = 1;
  static void Declare(ParamDeclaration<PartsParam>& d) {
    d.Field("num_outputs", &PartsParam::num_outputs).Min(1).Max(1 << 16);
  }
};

COOPER_REGISTER_OP(Parts)
    .Param<PartsParam>()
    .Outputs([](const OpCall& call) {
      OpSchema::Names names;
      for (int64_t i = 0; i < call.param<PartsParam>().num_outputs; ++i) {
        names.push_back(absl::StrCat("output", i));
      }
      return names;
    })
    .Shape(SameShape)
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

// What takes time in proportion to the squares of these sizes takes ten times as long and more.
class Stopwatch {
 public:
  ~Stopwatch() {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    EXPECT_LT(taken.count(), 15);
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

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
                                        .values = 40,
                                        .nesting = 5,
                                        .nodes = 2,
                                        .outputs = 4}));
  const struct {
    LoadLimits limits;
    const char* error;
  } kCases[] = {
      {{.text_bytes = 99}, "more than 99 bytes: LoadLimits::text_bytes"},
      {{.values = 20}, "more than 20 values: LoadLimits::values"},
      {{.nodes = 1}, "more than 1 nodes: LoadLimits::nodes"},
      {{.outputs = 3}, "with Parts 'y' there are 4 outputs, more than 3: LoadLimits::outputs"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(SymbolFromJson(two, c.limits), StatusIs(kResourceExhausted, HasSubstr(c.error)));
  }
  EXPECT_THAT(SymbolFromJson(two, {.nesting = 4}),
              StatusIs(kInvalidArgument, HasSubstr("deeper than 4 levels")));
}

// 224 KB that ask for 131 million outputs.
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

// The count of inputs may be written in any way that it can be read in.
TEST(HostileGraphTest, WhatIsComposedIsLoadedAgain) {
  for (const char* count : {"2", " 2", "+2"}) {
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
