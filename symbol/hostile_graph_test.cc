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

// Operators of this test's own.

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
