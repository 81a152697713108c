#include "executor/compile/program_flops.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/profiler.h"
#include "symbol/op/linalg.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/reduce.h"
#include "symbol/op/rnn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

// Returns the FLOPs of a graph. `data_req` is the request of the argument data, `req` that of all
// others.
ProgramFlops FlopsOf(const Symbol& symbol, const KnownShapes& shapes, WriteReq req,
                     WriteReq data_req = WriteReq::kNull,
                     const std::set<std::string>& disabled_passes = {}) {
  const auto compiled = Executor::Compile(symbol, {.shapes = shapes,
                                                   .grad_req = req,
                                                   .grad_reqs = {{"data", data_req}},
                                                   .disabled_passes = disabled_passes});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return CountFlops(**compiled);
}

// The product (5, 3) times (3, 4) has 5 * 4 sums of 3 products.
TEST(ProgramFlopsTest, FullyConnected) {
  const Symbol net = op::FullyConnected(Symbol::Variable("data"), {.num_hidden = 4, .name = "fc"});
  const KnownShapes shapes = {{"data", {5, 3}}};
  const ProgramFlops forward = FlopsOf(net, shapes, WriteReq::kNull);
  EXPECT_EQ(forward.products, 120);
  EXPECT_EQ(forward.elements, 20);
  EXPECT_EQ(forward.total(), 140);
  const ProgramFlops weights = FlopsOf(net, shapes, WriteReq::kWrite);
  EXPECT_EQ(weights.products, 120 + 120);
  EXPECT_EQ(weights.elements, 20 + 12 + 4);  // weight and bias
  const ProgramFlops all = FlopsOf(net, shapes, WriteReq::kWrite, WriteReq::kWrite);
  EXPECT_EQ(all.products, 120 + 240);
  EXPECT_EQ(all.elements, 20 + 12 + 4 + 15);
}

// The output is (2, 4, 3, 4), and a window has 3 channels, 3 rows and 2 columns. With two groups it
// has half as many products.
TEST(ProgramFlopsTest, Convolution) {
  const Symbol data = Symbol::Variable("data");
  const Symbol net = op::Convolution(
      data, {.kernel = {3, 2}, .stride = {2, 2}, .num_filter = 4, .no_bias = true, .name = "c"});
  const double products = 2.0 * (2 * 4 * 3 * 4) * (3 * 3 * 2);
  EXPECT_EQ(FlopsOf(net, {{"data", {2, 3, 8, 9}}}, WriteReq::kNull).products, products);
  EXPECT_EQ(FlopsOf(net, {{"data", {2, 3, 8, 9}}}, WriteReq::kWrite).products, 2 * products);
  const Symbol grouped =
      op::Convolution(data, {.kernel = {3}, .num_filter = 6, .num_group = 2, .name = "g"});
  EXPECT_EQ(FlopsOf(grouped, {{"data", {5, 4, 10}}}, WriteReq::kNull).products,
            2 * (5 * 6 * 8) * (2 * 3));
  // Each element of the data goes to 3 filters under a window of 4.
  const Symbol transposed =
      op::Deconvolution(data, {.kernel = {4}, .stride = {2}, .num_filter = 3, .name = "d"});
  EXPECT_EQ(FlopsOf(transposed, {{"data", {5, 2, 10}}}, WriteReq::kNull).products,
            2 * (5 * 2 * 10) * (3 * 4));
}

// The network has two layers in both directions, with weights of four gates for 3 inputs and 5
// states, then for 10 inputs and 5 states.
TEST(ProgramFlopsTest, Rnn) {
  const Symbol net = op::RNN(
      Symbol::Variable("data"),
      {.state_size = 5, .num_layers = 2, .bidirectional = true, .mode = "lstm", .name = "rnn"});
  const double of_data = 2.0 * 20 * 3, weights = 2.0 * (20 * (3 + 5) + 20 * (10 + 5));
  const double steps = 2.0 * 7 * 2;
  const KnownShapes shapes = {{"data", {7, 2, 3}}};
  EXPECT_EQ(FlopsOf(net, shapes, WriteReq::kNull).products, steps * weights);
  EXPECT_EQ(FlopsOf(net, shapes, WriteReq::kWrite).products, steps * (3 * weights - of_data));
  EXPECT_EQ(FlopsOf(net, shapes, WriteReq::kWrite, WriteReq::kWrite).products, steps * 3 * weights);
}

TEST(ProgramFlopsTest, ProductsOfMatrices) {
  const Symbol data = Symbol::Variable("data"), other = Symbol::Variable("other");
  const KnownShapes pair = {{"data", {4, 3}}, {"other", {5, 3}}};
  EXPECT_EQ(FlopsOf(op::dot(data, other, {.transpose_b = true}), pair, WriteReq::kNull).products,
            2 * 4 * 3 * 5);
  const KnownShapes batches = {{"data", {6, 3, 4}}, {"other", {6, 3, 5}}};
  const Symbol batch_dot = op::batch_dot(data, other, {.transpose_a = true});
  EXPECT_EQ(FlopsOf(batch_dot, batches, WriteReq::kNull).products, 2 * 6 * 4 * 3 * 5);
  EXPECT_EQ(FlopsOf(batch_dot, batches, WriteReq::kWrite).products, 2 * (2 * 6 * 4 * 3 * 5));
  const Symbol gemm = op::linalg_gemm2(data, other, {.transpose_a = true});
  EXPECT_EQ(FlopsOf(gemm, batches, WriteReq::kNull).products, 2 * 6 * 4 * 3 * 5);
  const Symbol attention = op::contrib::interleaved_matmul_selfatt_qk(data, {.heads = 2});
  // 3 sequences and 2 heads: 5 by 5 products of 4.
  EXPECT_EQ(FlopsOf(attention, {{"data", {5, 3, 24}}}, WriteReq::kNull).products,
            2 * 3 * 2 * 5 * 5 * 4);
}

TEST(ProgramFlopsTest, ReductionsReadAndViewsDoNothing) {
  const Symbol data = Symbol::Variable("data");
  const ProgramFlops flops =
      FlopsOf(op::sum(op::Reshape(data, {.shape = {-1}})), {{"data", {8, 9}}}, WriteReq::kNull);
  EXPECT_EQ(flops.products, 0);
  EXPECT_EQ(flops.elements, 72);
}

Symbol NextWord(int length) {
  const Symbol embed =
      op::Embedding(Symbol::Variable("data"), {.input_dim = 30, .output_dim = 8, .name = "embed"});
  LSTMCell cell(12, {.prefix = "lstm_"});
  const Symbol rows = op::Reshape(
      Unroll(cell, length, embed, {.merge_outputs = true}).outputs.merged(), {.shape = {-1, 12}});
  const Symbol scores = op::FullyConnected(rows, {.num_hidden = 30, .name = "pred"});
  return op::SoftmaxOutput(
      scores, {.label = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}}),
               .name = "softmax"});
}

// CountFlops equals the FLOPs that the kernels count during a run, with and without passes. Passes
// fuse the cells and the classifier and merge several products into one.
TEST(ProgramFlopsTest, AreThoseOfARun) {
  for (const bool passes : {true, false}) {
    std::set<std::string> disabled;
    if (!passes) {
      const std::vector<std::string> names = PassNames();
      disabled = {names.begin(), names.end()};
    }
    const Symbol net = NextWord(6);
    const BindOptions options = {
        .shapes = {{"data", {4, 6}}, {"softmax_label", {4, 6}}},
        .grad_reqs = {{"data", WriteReq::kNull}, {"softmax_label", WriteReq::kNull}},
        .disabled_passes = disabled};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled, Executor::Compile(net, options));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(net, options));
    StartProfile();
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    COOPER_ASSERT_OK(executor->Backward());
    double counted = 0;
    for (const ProfileEvent& event : StopProfile().events) {
      counted += static_cast<double>(event.flops);
    }
    EXPECT_GT(counted, 0);
    EXPECT_EQ(CountFlops(*compiled).products, counted) << "passes " << passes;
  }
}

}  // namespace
}  // namespace cooper
