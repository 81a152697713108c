// Checks that networks bound with and without the pass compute the same, and that images are
// converted only where expected.

#include "executor/passes/graph/block_channels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/program/blocked_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/nn.h"
#include "symbol/op/operators.h"
#include "symbol/op/reduce.h"
#include "symbol/op/shape.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsNan;
using ::testing::Matcher;
using ::testing::Not;
using ::testing::Pointwise;

int64_t Block() { return GetBlockedLayout()->block; }

Symbol Data() { return Symbol::Variable("data"); }

Symbol Conv(const Symbol& x, int64_t filters, int64_t kernel, const std::string& name,
            int64_t groups = 1) {
  return op::Convolution(x, {.kernel = {kernel, kernel},
                             .pad = {kernel / 2, kernel / 2},
                             .num_filter = filters,
                             .num_group = groups,
                             .name = name});
}
Symbol Relu(const Symbol& x) { return op::Activation(x, {.act_type = "relu"}); }

struct Options {
  bool train = true;
  WriteReq req = WriteReq::kWrite;
};

// Returns outputs, gradients and moving statistics, in order of name.
std::vector<std::vector<float>> Results(Executor& executor, const Options& options) {
  uint64_t seed = 1;
  for (const auto* arrays : {&executor.arg_dict(), &executor.aux_dict(), &executor.grad_dict()}) {
    for (const auto& [name, array] : *arrays) {
      FillRandom(array, seed++);
      if (!absl::StrContains(name, "var")) continue;
      COOPER_EXPECT_OK(array.Fill(1.5));
    }
  }
  COOPER_EXPECT_OK(executor.Forward(options.train));
  std::vector<std::vector<float>> results;
  const absl::Span<const NDArray> outputs = *executor.outputs();
  for (const NDArray& output : outputs) results.push_back(Floats(output));
  if (options.train && options.req != WriteReq::kNull) {
    std::vector<NDArray> heads = RandomArrays(executor.output_shapes(), 50);
    COOPER_EXPECT_OK(executor.Backward(heads));
  }
  for (const auto* arrays : {&executor.grad_dict(), &executor.aux_dict()}) {
    for (const auto& [name, array] : *arrays) results.push_back(Floats(array));
  }
  return results;
}

// Compares results with and without the pass. Returns the number of layout conversions in the
// forward pass.
int Reorders(const Symbol& net, const KnownShapes& shapes, const Options& options = {}) {
  std::vector<std::vector<std::vector<float>>> results;
  int reorders = 0;
  for (const bool blocked : {true, false}) {
    BindOptions bind{.shapes = shapes, .grad_req = options.req};
    if (!blocked) bind.disabled_passes = {"blocked_channels"};
    auto executor = Executor::SimpleBind(net, bind);
    EXPECT_TRUE(executor.ok()) << executor.status();
    if (!executor.ok()) return -1;
    if (blocked) {
      const std::string text = (*executor)->DebugString();
      for (const absl::string_view line : absl::StrSplit(text, '\n')) {
        if (absl::StrContains(line, "transpose") && !absl::StrContains(line, "backward")) {
          ++reorders;
        }
      }
    }
    results.push_back(Results(**executor, options));
  }
  EXPECT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    // Sums of thousands of terms are large, and so are their errors.
    float largest = 100;
    for (const float value : results[1][i]) largest = std::max(largest, std::abs(value));
    EXPECT_THAT(results[0][i], Pointwise(FloatNear(2e-5F * largest), results[1][i])) << i;
  }
  return reorders;
}

// The processor determines which convolutions have fast code; from AVX2 on, those of networks have
// it.
void ExpectReorders(int reorders, int expected) {
  if (GetCpuLevel() >= CpuLevel::kAvx2) {
    EXPECT_EQ(reorders, expected);
  }
}

// A residual network with all operators that stay blocked.
Symbol Network() {
  const int64_t b = Block();
  Symbol x =
      Relu(op::BatchNorm(Conv(Data(), 2 * b, 3, "first"), {.fix_gamma = false, .name = "bn"}));
  x = op::Pooling(x, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .name = "max"});
  Symbol y = Conv(x, 2 * b, 3, "deep", 2 * b);
  y = op::BatchNorm(y, {.eps = 1e-3, .name = "bn2"});
  y = Conv(Relu(y), 2 * b, 1, "point");
  x = Relu(x + y);
  x = op::Concat({x, Conv(x, b, 3, "more")}, {.dim = 1, .name = "both"});
  x = op::Pooling(x, {.kernel = {2, 2}, .stride = {2, 2}, .pool_type = "avg", .name = "mean"});
  return op::Pooling(Conv(x, b, 3, "last"),
                     {.global_pool = true, .pool_type = "avg", .name = "end"});
}

TEST(BlockChannelsTest, NetworkComputesTheSame) {
  for (int64_t batch : {1, 3}) {
    for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
      ExpectReorders(Reorders(Network(), {{"data", {batch, 3, 17, 14}}}, {.req = req}), 1);
    }
    for (const bool train : {false, true}) {
      ExpectReorders(Reorders(Network(), {{"data", {batch, 3, 17, 14}}},
                              {.train = train, .req = WriteReq::kNull}),
                     1);
    }
  }
}

TEST(BlockChannelsTest, Convolutions) {
  const int64_t b = Block();
  struct Case {
    int64_t channels, filters, groups;
    std::vector<int64_t> kernel, stride, pad, dilate;
  };
  const Case cases[] = {
      {3, b, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {1, 2 * b, 1, {5, 4}, {2, 1}, {2, 0}, {1, 1}},
      {b, 3 * b, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
      {2 * b, b, 1, {1, 1}, {2, 2}, {0, 0}, {1, 1}},
      {2 * b, 5 * b, 1, {3, 2}, {2, 3}, {1, 1}, {1, 1}},
      {2 * b, 2 * b, 1, {3, 3}, {1, 1}, {2, 2}, {2, 2}},
      {2 * b, 2 * b, 2 * b, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {4 * b, 2 * b, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {2 * b, 2 * b, b, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {2 * b, 4 * b, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {9 * b, 9 * b, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
  };
  for (const Case& c : cases) {
    for (const bool no_bias : {true, false}) {
      for (const int64_t batch : {1, 2, 5}) {
        // Depthwise convolutions take blocks only from another operator.
        const bool depthwise = c.groups == c.channels;
        const Symbol data = depthwise ? Conv(Data(), c.channels, 1, "point") : Data();
        const Symbol net = op::Convolution(data, {.kernel = c.kernel,
                                                  .stride = c.stride,
                                                  .dilate = c.dilate,
                                                  .pad = c.pad,
                                                  .num_filter = c.filters,
                                                  .num_group = c.groups,
                                                  .no_bias = no_bias,
                                                  .name = "conv"});
        SCOPED_TRACE(absl::StrCat(c.channels, " ", c.filters, " ", c.groups, " ", batch));
        Reorders(net, {{"data", {batch, c.channels, 12, 13}}});
        Reorders(net, {{"data", {batch, c.channels, 12, 13}}}, {.req = WriteReq::kAdd});
      }
    }
  }
}

TEST(BlockChannelsTest, DepthwiseConvolutionsAloneTakeWideBlocksOnly) {
  const int64_t b = Block();
  EXPECT_EQ(Reorders(Conv(Data(), 2 * b, 3, "deep", 2 * b), {{"data", {2, 2 * b, 12, 13}}}),
            b == 16 ? 2 : 0);
}

// Large enough to be computed in parts, by images and by channels. Parts depend on the shapes
// alone, so results do not depend on the number of threads.
TEST(BlockChannelsTest, PartsOfLargeConvolutions) {
  const int64_t b = Block();
  struct Case {
    int64_t batch, channels, filters, groups, extent;
  };
  const Case cases[] = {{4, 2 * b, 2 * b, 1, 20},        {1, 2 * b, 10 * b, 1, 20},
                        {3, 12 * b, 12 * b, 1, 6},       {5, 3, 4 * b, 1, 40},
                        {2, 16 * b, 16 * b, 16 * b, 60}, {3, 8 * b, 8 * b, 4, 12},
                        {1, 4 * b, 4 * b, 1, 9},         {1, 8 * b, 8 * b, 8 * b, 24}};
  for (const Case& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.batch, " ", c.channels, " ", c.filters, " ", c.groups));
    const bool depthwise = c.groups == c.channels;
    const Symbol data = depthwise ? Conv(Data(), c.channels, 1, "point") * 0.1 : Data();
    const Symbol net = Conv(data, c.filters, 3, "conv", c.groups) * 0.1;
    const KnownShapes shapes = {{"data", {c.batch, c.channels, c.extent, c.extent}}};
    Reorders(net, shapes);
    auto executor = Executor::SimpleBind(net, {.shapes = shapes});
    ASSERT_TRUE(executor.ok()) << executor.status();
    const auto expected = Results(**executor, {});
    for (const int threads : {1, 3, 5}) {
      SetNumThreads(threads);
      EXPECT_EQ(Results(**executor, {}), expected) << threads;
    }
    SetNumThreads(0);
  }
}

// Tests one and three spatial axes.
TEST(BlockChannelsTest, OtherNumbersOfAxes) {
  const int64_t b = Block();
  for (const bool train : {true, false}) {
    const Options options{.train = train, .req = train ? WriteReq::kWrite : WriteReq::kNull};
    for (const int64_t batch : {1, 3}) {
      Symbol x =
          op::Convolution(Data(), {.kernel = {3}, .pad = {1}, .num_filter = 2 * b, .name = "a"});
      x = Relu(op::BatchNorm(x, {.fix_gamma = false, .axis = -2, .name = "bn"}));
      x = op::Pooling(x, {.kernel = {2}, .stride = {2}, .pool_type = "avg", .name = "pool"});
      x = op::Convolution(x,
                          {.kernel = {5}, .stride = {2}, .pad = {2}, .num_filter = b, .name = "c"});
      EXPECT_GE(Reorders(x, {{"data", {batch, 2 * b, 21}}}, options), 1);

      Symbol y = op::Convolution(
          Data(), {.kernel = {3, 3, 3}, .pad = {1, 1, 1}, .num_filter = 2 * b, .name = "a"});
      y = Relu(op::BatchNorm(y, {.fix_gamma = false, .name = "bn"}));
      y = op::Pooling(y, {.kernel = {2, 2, 2}, .stride = {2, 2, 2}, .name = "pool"});
      y = op::Convolution(y, {.kernel = {1, 3, 2}, .num_filter = b, .name = "c"});
      EXPECT_GE(Reorders(y, {{"data", {batch, 3, 5, 8, 7}}}, options), 1);
    }
  }
}

// The sum must not overwrite data that the convolution still reads.
TEST(BlockChannelsTest, SumWithTheConvolutionsOwnData) {
  const Symbol x = Relu(Conv(Data(), Block(), 3, "first"));
  const Symbol y = Conv(x, Block(), 3, "second") + x;
  const Symbol z = Conv(op::tanh(y), Block(), 3, "third") + y;
  ExpectReorders(Reorders(z, {{"data", {2, 3, 9, 8}}}, {.train = false, .req = WriteReq::kNull}),
                 1);
}

TEST(BlockChannelsTest, SumWithAViewOfTheConvolutionsOwnData) {
  const Options options{.train = false, .req = WriteReq::kNull};
  const Symbol x = Relu(Conv(Data(), Block(), 3, "first"));
  const Symbol joined = op::Concat({x}, {.dim = 1});
  Reorders(Conv(x, Block(), 3, "second") + joined, {{"data", {1, 3, 9, 8}}}, options);
  const Symbol shaped = op::Reshape(x, {.shape = {0, 0, 0, 0}});
  Reorders(Conv(x, Block(), 1, "second") + shaped, {{"data", {2, 3, 1, 1}}}, options);
}

// A relu that is fused into a convolution gives 0 for NaN, as every Activation of MXNet 1.9.1 does.
// Elsewhere cooper's relu propagates NaN.
TEST(BlockChannelsTest, ReluInAConvolutionGivesZeroForNaN) {
  const Symbol net = Relu(Conv(Data(), Block(), 3, "conv"));
  for (const bool blocked : {true, false}) {
    BindOptions bind{.shapes = {{"data", {1, 3, 8, 8}}}, .grad_req = WriteReq::kNull};
    if (!blocked) bind.disabled_passes = {"blocked_channels"};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(net, bind));
    COOPER_ASSERT_OK(executor->arg_dict().at("data").Fill(std::nan("")));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
    const bool fused = absl::StrContains(executor->DebugString(), "_fused_convolution");
    EXPECT_THAT(Floats((*executor->outputs())[0]), Each(fused ? Matcher<float>(0.0F) : IsNan()));
  }
}

// Some results are beyond the bounds; the sum of the first two is fused too.
TEST(BlockChannelsTest, ClipBecomesAPartOfConvolutions) {
  const int64_t b = Block();
  const auto clip = [](const Symbol& x) { return op::clip(x, {.a_min = -0.25, .a_max = 0.75}); };
  Symbol x = clip(op::BatchNorm(Conv(Data(), b, 3, "first"), {.name = "bn"}));
  x = clip(x + Conv(clip(Conv(x, b, 3, "second")), b, 1, "third"));
  for (const bool train : {false, true}) {
    for (const WriteReq req : {WriteReq::kNull, WriteReq::kWrite}) {
      Reorders(x, {{"data", {2, 3, 9, 8}}}, {.train = train, .req = req});
    }
  }
  // Operators may differ in which bound wins.
  Reorders(op::clip(Conv(Data(), b, 3, "conv"), {.a_min = 0.5, .a_max = -0.5}),
           {{"data", {2, 3, 9, 8}}}, {.train = false, .req = WriteReq::kNull});
  BindOptions bind{.shapes = {{"data", {2, 3, 9, 8}}}, .grad_req = WriteReq::kNull};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(x, bind));
  if (GetCpuLevel() < CpuLevel::kAvx2) return;
  EXPECT_THAT(executor->DebugString(), Not(HasSubstr("\nclip")));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto one,
                              Executor::SimpleBind(clip(Conv(Data(), b, 3, "one")), bind));
  COOPER_ASSERT_OK(one->arg_dict().at("data").Fill(std::nan("")));
  COOPER_ASSERT_OK(one->Forward(/*is_train=*/false));
  EXPECT_THAT(Floats((*one->outputs())[0]), Each(-0.25F)) << "of NaN";
}

TEST(BlockChannelsTest, WhatDoesNotFitStaysPlain) {
  const int64_t b = Block();
  // Channels that are no whole blocks.
  EXPECT_EQ(Reorders(Conv(Data(), b + 1, 3, "conv"), {{"data", {2, b, 8, 8}}}), 0);
  EXPECT_EQ(Reorders(Conv(Data(), b, 3, "conv"), {{"data", {2, b + 1, 8, 8}}}), 0);
  // No convolution: for pooling alone, conversions cost more than they save.
  EXPECT_EQ(Reorders(op::Pooling(Data(), {.kernel = {2, 2}}), {{"data", {2, b, 8, 8}}}), 0);
  // Operators on the whole array get it in its original layout.
  const Symbol conv = Conv(Data(), b, 3, "conv");
  ExpectReorders(Reorders(op::Flatten(conv), {{"data", {2, 3, 8, 8}}}), 1);
  ExpectReorders(Reorders(op::mean(conv, {.axis = {2}}), {{"data", {2, 3, 8, 8}}}), 1);
}

TEST(BlockChannelsTest, LossesSeeTheArraysThatWereWritten) {
  // The gradient of a MakeLoss is divided by the extents of its data.
  for (const char* normalization : {"batch", "valid", "null"}) {
    const Symbol loss = Op("MakeLoss", {.name = "loss",
                                        .inputs = {op::square(Conv(Data(), Block(), 3, "conv"))},
                                        .attrs = {{"normalization", normalization}}});
    Reorders(loss, {{"data", {2, 3, 5, 6}}});
  }
}

TEST(BlockChannelsTest, StatisticsThatAreOutputs) {
  // A symbol file may request them, though the operator has one visible output.
  const Symbol norm =
      op::BatchNorm(Conv(Data(), Block(), 3, "conv"), {.fix_gamma = false, .name = "bn"});
  const NodePtr node = norm.outputs()[0].node;
  Reorders(Symbol({{node, 0}, {node, 1}, {node, 2}}), {{"data", {2, 3, 5, 6}}},
           {.req = WriteReq::kNull});
}

TEST(BlockChannelsTest, PaddingOfAnAxisOfOneIndex) {
  // The only window along the first axis lies in the padding.
  const Symbol conv = op::Convolution(Data(), {.kernel = {1, 3, 3},
                                               .stride = {3, 1, 1},
                                               .pad = {1, 1, 1},
                                               .num_filter = Block(),
                                               .name = "conv"});
  Reorders(conv, {{"data", {2, Block(), 1, 6, 7}}});
}

TEST(BlockChannelsTest, OtherImagesOfAsManyElements) {
  // For single pixels a layout conversion moves nothing.
  const Symbol net = Conv(Relu(Conv(Data(), 2 * Block(), 1, "first")), Block(), 1, "second");
  std::vector<std::vector<float>> outputs;
  for (const bool blocked : {true, false}) {
    BindOptions bind{.shapes = {{"data", {40, Block(), 1, 1}}}, .grad_req = WriteReq::kNull};
    if (!blocked) bind.disabled_passes = {"blocked_channels"};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto pixels, Executor::SimpleBind(net, bind));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto images,
                                pixels->Reshape({{"data", {1, Block(), 5, 7}}}, true, true));
    outputs.push_back(Results(*images, {.train = false, .req = WriteReq::kNull})[0]);
  }
  EXPECT_THAT(outputs[0], Pointwise(FloatNear(1e-4F), outputs[1]));
}

TEST(BlockChannelsTest, EmptyBatches) {
  // A file may contain it; the pass does not create it for an empty batch.
  const Symbol blocked =
      Op("_blocked_convolution", {.name = "conv",
                                  .inputs = {Data()},
                                  .attrs = {{"kernel", "(3, 3)"},
                                            {"num_filter", absl::StrCat(Block())},
                                            {"block", absl::StrCat(Block())}}});
  const auto bound = Executor::SimpleBind(blocked, {.shapes = {{"data", {0, 1, 8, 8, Block()}}}});
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kUnimplemented) << bound.status();
  EXPECT_EQ(Reorders(Conv(Data(), Block(), 3, "conv"), {{"data", {0, 3, 8, 8}}}), 0);
}

TEST(BlockChannelsTest, EmptyBatchesLeaveAveragesAlone) {
  const Symbol norm =
      Op("_blocked_batch_norm",
         {.name = "bn", .inputs = {Data()}, .attrs = {{"block", absl::StrCat(Block())}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(norm, {.shapes = {{"data", {0, 1, 8, 8, Block()}}}}));
  for (const char* name : {"bn_moving_mean", "bn_moving_var"}) {
    COOPER_ASSERT_OK(executor->aux(name).Fill(1.5));
  }
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  COOPER_ASSERT_OK(executor->Backward(RandomArrays(executor->output_shapes(), 50)));
  for (const char* name : {"bn_moving_mean", "bn_moving_var"}) {
    EXPECT_THAT(Floats(executor->aux(name)), Each(1.5F)) << name;
  }
}

TEST(BlockChannelsTest, SmallerBatchesRunInTheSamePlan) {
  const Symbol net = Network();
  auto large = Executor::SimpleBind(net, {.shapes = {{"data", {4, 3, 12, 12}}}});
  ASSERT_TRUE(large.ok()) << large.status();
  auto small = (*large)->Reshape({{"data", {3, 3, 12, 12}}}, /*partial_shaping=*/true);
  ASSERT_TRUE(small.ok()) << small.status();
  auto own = Executor::SimpleBind(net, {.shapes = {{"data", {3, 3, 12, 12}}}});
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(Results(**small, {}), Results(**own, {}));
}

}  // namespace
}  // namespace cooper
