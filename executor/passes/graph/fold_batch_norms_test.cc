#include "executor/passes/graph/fold_batch_norms.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/passes/graph/constants_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Keeps convolutions unchanged.
const std::set<std::string> kAsWritten = {"blocked_channels"};

// Returns whether the pass folds all BatchNorms when all arguments but the data are constants;
// checks that results do not change.
bool Folds(const Symbol& net, const Shape& data) {
  const BindOptions options = Options(net, data, kAsWritten);
  const auto plain = Bind(net, options);
  const auto folded = Bind(net, WithConstants(options));
  const std::vector<float> expected = Output(*plain), actual = Output(*folded);
  EXPECT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
  }
  EXPECT_THAT(plain->DebugString(), HasSubstr("BatchNorm "));
  return !absl::StrContains(folded->DebugString(), "BatchNorm ");
}

const Symbol& Data() {
  static const auto* data = new Symbol(Symbol::Variable("data"));
  return *data;
}

TEST(FoldBatchNormsTest, Convolutions) {
  for (const bool no_bias : {true, false}) {
    for (const int64_t groups : {1, 2}) {
      const Symbol conv = op::Convolution(Data(), {.kernel = {3, 3},
                                                   .num_filter = 6,
                                                   .num_group = groups,
                                                   .no_bias = no_bias,
                                                   .name = "conv"});
      EXPECT_TRUE(Folds(op::BatchNorm(conv, {.eps = 0.01, .name = "bn"}), {2, 4, 5, 6}));
      EXPECT_TRUE(
          Folds(op::BatchNorm(conv, {.fix_gamma = false, .axis = -3, .name = "bn"}), {2, 4, 5, 6}));
    }
  }
  const Symbol line = op::Convolution(Data(), {.kernel = {3}, .num_filter = 5, .name = "conv"});
  EXPECT_TRUE(Folds(op::BatchNorm(line, {.fix_gamma = false, .name = "bn"}), {2, 4, 9}));
}

TEST(FoldBatchNormsTest, Products) {
  const Symbol product = op::FullyConnected(Data(), {.num_hidden = 7, .name = "fc"});
  EXPECT_TRUE(Folds(op::BatchNorm(product, {.fix_gamma = false, .name = "bn"}), {3, 2, 4}));
  const Symbol column = op::FullyConnected(
      Data(), {.bias = Symbol::Variable("fc_bias", {.shape = PartialShape({7, 1})}),
               .num_hidden = 7,
               .name = "fc"});
  EXPECT_TRUE(Folds(op::BatchNorm(column, {.name = "bn"}), {3, 8}));
}

TEST(FoldBatchNormsTest, WhatStays) {
  const Symbol conv = op::Convolution(Data(), {.kernel = {3, 3}, .num_filter = 6, .name = "conv"});
  // Not folded: a BatchNorm over another axis, a convolution with a second user, a product that is
  // not flattened.
  EXPECT_FALSE(Folds(op::BatchNorm(conv, {.axis = 2, .name = "bn"}), {2, 4, 5, 6}));
  const Symbol norm = op::BatchNorm(conv, {.name = "bn"});
  EXPECT_FALSE(Folds(*Symbol::Group({norm, conv}), {2, 4, 5, 6}));
  const Symbol product =
      op::FullyConnected(Data(), {.num_hidden = 7, .flatten = false, .name = "fc"});
  EXPECT_FALSE(Folds(op::BatchNorm(product, {.name = "bn"}), {3, 2, 4}));
}

TEST(FoldBatchNormsTest, NothingThatMayChange) {
  const Symbol net = op::BatchNorm(
      op::Convolution(Data(), {.kernel = {3, 3}, .num_filter = 6, .name = "conv"}), {.name = "bn"});
  BindOptions options = WithConstants(Options(net, {2, 4, 5, 6}, kAsWritten));
  options.constants.erase("bn_moving_mean");
  EXPECT_THAT(Bind(net, options)->DebugString(), HasSubstr("BatchNorm "));
  options.constants = {"conv_weight"};
  EXPECT_THAT(Bind(net, options)->DebugString(), HasSubstr("BatchNorm "));
}

}  // namespace
}  // namespace cooper
