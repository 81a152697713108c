// Which gradients are made, and what they cost. Their values are tested by operator and by golden
// cases.

#include "symbol/gradient.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

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

// MXNet asks each node below the heads for its gradient; BlockGrad hands down zeros, which a loss
// ignores.
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

}  // namespace
}  // namespace cooper
