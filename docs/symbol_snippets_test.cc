// The C++ of symbol.md, rnn_cells.md and mxnet_differences.md, run: check_snippets.sh holds
// them together.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "docs/two_layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/control/cond.h"
#include "symbol/control/foreach.h"
#include "symbol/control/while_loop.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/operators.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/over_time.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/visualization/plot_network.h"
#include "symbol/visualization/print_summary.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SymbolPageTest, InfersBothWays) {
  const Symbol net = TwoLayers();
  EXPECT_THAT(net.ListArguments(), ElementsAre("data", "fc1_weight", "fc1_bias", "fc2_weight",
                                               "fc2_bias", "softmax_label"));
  // From the data to the weights.
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(net, {{"data", {32, 650}}}));
  EXPECT_EQ(shapes.args[1].ToString(), "(128, 650)");  // fc1_weight
  // And back: the data's features from a weight.
  COOPER_ASSERT_OK_AND_ASSIGN(
      const InferredShapes back,
      InferShape(net, {{"data", {32, kUnknownDim}}, {"fc1_weight", {128, 650}}}));
  EXPECT_EQ(back.args[0].ToString(), "(32, 650)");  // data
  // The error for contradictory shapes has the names and shapes of all inputs.
  EXPECT_EQ(
      InferShape(net, {{"data", {32, 650}}, {"fc1_weight", {128, 200}}}).status().message(),
      "FullyConnected 'fc1': input 'weight' has shape (128, 200), expected (128, 650) = "
      "(num_hidden, input_dim); inputs: data 'data' (32, 650), weight 'fc1_weight' (128, 200), "
      "bias 'fc1_bias' (128,)");
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, SymbolFromJson(SymbolToJson(net)));
  EXPECT_EQ(SymbolToJson(again), SymbolToJson(net));
}

TEST(SymbolPageTest, LoopsOverTheFirstAxis) {
  // Running sums of data (length, features): the state is the sum so far.
  const ForeachResult sums = Foreach(
      [](const std::vector<Symbol>& data, const std::vector<Symbol>& states) {
        const Symbol sum = data[0] + states[0];
        return ForeachStep{.outputs = {sum}, .states = {sum}};
      },
      {Symbol::Variable("data")}, {Symbol::Variable("begin")}, "sums");
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes,
                              InferShape(sums.outputs[0], {{"data", {30, 8}}}));
  EXPECT_EQ(shapes.outputs[0].ToString(), "(30, 8)");
}

TEST(SymbolPageTest, RunsUnderConditions) {
  // Doubles x until it is at least 10; a choice computes its square root if it ends above 12.
  const WhileLoopResult doubled =
      WhileLoop([](const std::vector<Symbol>& vars) { return vars[0] < 10; },
                [](const std::vector<Symbol>& vars) {
                  return WhileLoopStep{.outputs = {vars[0]}, .vars = {vars[0] * 2}};
                },
                {Symbol::Variable("x")}, /*max_iterations=*/8);
  const Symbol last = doubled.vars[0];
  const Symbol root = Cond(
      last > 12, [&] { return std::vector<Symbol>{op::sqrt(last)}; },
      [&] { return std::vector<Symbol>{last}; })[0];
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(root, {{"x", {1}}}));
  EXPECT_EQ(shapes.outputs[0].ToString(), "(1,)");
}

TEST(SymbolPageTest, UnrollsAndUnfuses) {
  const Symbol words = Symbol::Variable("words");  // (batch_size, 20, features)
  FusedRNNCell fused(200, {.num_layers = 2, .mode = RNNMode::kLstm, .prefix = "lstm_"});
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled one_node, fused.Unroll(20, words));
  // The same network, a node for each step, as cells whose weights have names of their own.
  const std::shared_ptr<SequentialRNNCell> cells = fused.Unfuse();
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled steps,
                              cells->Unroll(20, words, {.merge_outputs = true}));
  // With valid_length, the padding after a sentence's end does not change the results.
  const Symbol lengths = Symbol::Variable("lengths");  // (batch_size,)
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Unrolled padded,
      cells->Unroll(20, words, {.merge_outputs = true, .valid_length = lengths}));
  // For a classifier, one vector of each sentence: (batch_size, 200).
  const Symbol mean = MeanOverTime(padded.outputs.merged(), lengths);
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes pooled,
                              InferShape(mean, {{"words", {32, 20, 8}}, {"lengths", {32}}}));
  EXPECT_EQ(pooled.outputs[0].ToString(), "(32, 200)");
  EXPECT_THAT(one_node.outputs.merged().ListArguments(), ElementsAre("words", "lstm_parameters"));
  EXPECT_THAT(steps.outputs.merged().ListArguments(), testing::Contains("lstm_l0_i2h_weight"));
}

TEST(SymbolPageTest, ShowsANetwork) {
  const Symbol net = TwoLayers();
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string table, PrintSummary(net, {{"data", {32, 650}}}));
  std::cout << table;
  const PlotOptions options = {.title = "two layers",
                               .shapes = {{"data", {32, 650}}},
                               .node_attrs = {{"fixedsize", "false"}}};  // boxes fit their text
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(net, options));
  COOPER_ASSERT_OK(WriteFileAtomically(testing::TempDir() + "net.dot", dot));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Total params: 84618\n"));
  EXPECT_THAT(dot, HasSubstr("digraph \"two layers\""));
}

// mxnet_differences.md

TEST(DifferencesPageTest, TwoVariablesOfOneName) {
  const auto sum = Symbol::Create(
      "elemwise_add", {.inputs = {Symbol::Variable("weight"), Symbol::Variable("weight")}});
  EXPECT_EQ(sum.status().code(), absl::StatusCode::kInvalidArgument);  // MXNet fails at bind
}

}  // namespace
}  // namespace cooper
