// Tests which gradients are built, and their cost. Their values are tested by operator and by
// golden cases.

#include "symbol/graph/gradient.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/node.h"
#include "symbol/schema/stopwatch.h"

namespace cooper {
namespace {

using ::testing::Contains;
using ::testing::Pointee;
using ::testing::Property;

Symbol Scores() {
  return *Symbol::Create(
      "FullyConnected",
      {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
}

Symbol Of(const char* op, const Symbol& input) {
  return *Symbol::Create(op, {.name = op, .inputs = {input}});
}

bool HasGradient(const Symbol& symbol, const std::string& name) {
  const auto graph = MakeGradientGraph(symbol, std::vector<std::string>{name});
  EXPECT_THAT(graph, IsOk());
  return graph.ok() && graph->gradients[0];
}

// A loss below BlockGrad is trained, as in MXNet: MXNet calls the gradient rule of each node below
// the heads, and a loss ignores the zeros that BlockGrad passes down.
TEST(GradientTest, ALossTrainsBelowWhatStopsGradients) {
  const Symbol loss = Of("SoftmaxOutput", Scores());
  for (const char* op : {"BlockGrad", "argmax", "zeros_like"}) {
    EXPECT_TRUE(HasGradient(Of(op, loss), "fc_weight")) << op;
    EXPECT_FALSE(HasGradient(Of(op, Of("softmax", Scores())), "fc_weight")) << op;
  }
  EXPECT_TRUE(HasGradient(Of("BlockGrad", Of("MakeLoss", Scores())), "fc_weight"));
}

TEST(GradientTest, WhatIsStoppedBesideALossHasNoGradient) {
  const Symbol other = *Symbol::Create(
      "FullyConnected",
      {.name = "other", .inputs = {Symbol::Variable("more")}, .attrs = {{"num_hidden", "3"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol both,
      Symbol::Group({Of("SoftmaxOutput", Scores()), Of("BlockGrad", Of("softmax", other))}));
  EXPECT_TRUE(HasGradient(both, "fc_weight"));
  EXPECT_FALSE(HasGradient(both, "other_weight"));
}

// Naming an output must not list all outputs of its node again: that would take minutes here.
TEST(GradientTest, OutputsOfANodeAreNamedOnce) {
  constexpr int kOutputs = 1 << 15;
  const Stopwatch stopwatch;
  const Symbol parts =
      *Symbol::Create("SliceChannel", {.name = "parts",
                                       .inputs = {Symbol::Variable("x")},
                                       .attrs = {{"num_outputs", absl::StrCat(kOutputs)}}});
  std::vector<Symbol> heads;
  heads.reserve(kOutputs);
  for (const NodeEntry& part : parts.outputs()) {
    heads.push_back(*Symbol::Create("elemwise_mul", {.inputs = {Symbol({part}), Symbol({part})}}));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol all, Symbol::Group(heads));
  COOPER_ASSERT_OK_AND_ASSIGN(const GradientGraph graph,
                              MakeGradientGraph(all, std::vector<std::string>{"x"}));
  EXPECT_THAT(graph.nodes, Contains(Pointee(Property(&Node::name, "parts_output7_grad_sum"))));
}

}  // namespace
}  // namespace cooper
