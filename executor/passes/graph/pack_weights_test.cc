// Checks that networks with constant weights compute the same as others, with weights that are
// packed once.

#include "executor/passes/graph/pack_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/passes/graph/constants_fixtures.h"
#include "executor/program/blocked_layout.h"
#include "executor/run/folded_arrays.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/nn.h"
#include "symbol/op/operators.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

int64_t Block() { return GetBlockedLayout()->block; }

struct Filters {
  int64_t count, kernel = 3, groups = 1;
  bool no_bias = true;
};
Symbol Conv(const Symbol& x, const std::string& name, const Filters& f) {
  return op::Convolution(x, {.kernel = {f.kernel, f.kernel},
                             .pad = {f.kernel / 2, f.kernel / 2},
                             .num_filter = f.count,
                             .num_group = f.groups,
                             .no_bias = f.no_bias,
                             .name = name});
}
Symbol Relu(const Symbol& x) { return op::Activation(x, {.act_type = "relu"}); }

Symbol Clip(const Symbol& x) { return op::clip(x, {.a_min = -0.5, .a_max = 2}); }

// Returns a network with all operators that are fused: BatchNorm with and without a bias before it,
// a sum, relu and clip. One convolution has groups.
Symbol Network() {
  const int64_t b = Block();
  Symbol x = Symbol::Variable("data");
  x = Relu(op::BatchNorm(Conv(x, "first", {.count = 2 * b}), {.fix_gamma = false, .name = "bn1"}));
  Symbol y = Conv(x, "deep", {.count = 2 * b, .groups = 2 * b, .no_bias = false});
  y = op::BatchNorm(y, {.eps = 1e-3, .name = "bn2"});
  y = Conv(Clip(y), "point", {.count = 2 * b, .kernel = 1, .no_bias = false});
  x = Relu(x + y);
  x = Relu(Conv(x, "grouped", {.count = 4 * b, .groups = 2}));
  return Conv(x, "last", {.count = b});
}

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  // Sums of thousands of terms are large, and so are their errors.
  float largest = 1;
  for (const float value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 2e-5F * largest) << i;
  }
}

// Returns how many weights are packed once; -1 below AVX2, where few convolutions have fast code.
int NumPacked(const Executor& executor) {
  if (GetCpuLevel() < CpuLevel::kAvx2) return -1;
  return static_cast<int>(std::ranges::count_if(executor.arg_names(), [](const std::string& name) {
    return absl::StartsWith(name, "_packed_weight") || absl::StartsWith(name, "_winograd_weight");
  }));
}

// Returns whether cooper's Winograd product runs on this processor in this program.
bool HasWinograd() {
#if defined(__AVX512F__)  // the whole program is compiled for one level
  return true;
#elif defined(__AVX2__)
  return Block() == 8;
#else
  return HighestCpuLevel() >= (Block() == 16 ? CpuLevel::kAvx512 : CpuLevel::kAvx2);
#endif
}

// Returns how many weights are transformed for Winograd's algorithm; -1 without it.
int NumTransformed(const Executor& executor) {
  if (!HasWinograd()) return -1;
  return static_cast<int>(std::ranges::count_if(executor.arg_names(), [](const std::string& name) {
    return absl::StartsWith(name, "_winograd_weight");
  }));
}

TEST(PackWeightsTest, NetworkComputesTheSame) {
  for (const int64_t batch : {1, 3}) {
    const BindOptions options = Options(Network(), {batch, 3, 13, 14});
    const auto plain = Bind(Network(), options);
    const auto packed = Bind(Network(), WithConstants(options));
    ExpectNear(Output(*packed), Output(*plain));
    if (NumPacked(*packed) < 0) continue;
    EXPECT_EQ(NumPacked(*packed), 5);
    EXPECT_THAT(packed->DebugString(),
                AllOf(Not(HasSubstr("batch_norm=True")), Not(HasSubstr("_folded_batch_norm "))));
  }
}

// Parts by images and by channels, the last of which has fewer filters than the others.
TEST(PackWeightsTest, PartsOfLargeConvolutions) {
  const int64_t b = Block();
  struct Case {
    int64_t batch, channels, extent;
    Filters filters;
  };
  const Case cases[] = {{4, 2 * b, 40, {.count = 2 * b}},
                        {8, 4 * b, 12, {.count = 4 * b}},  // two images in each part
                        {8, 4 * b, 7, {.count = 4 * b}},
                        {1, 2 * b, 40, {.count = 10 * b, .no_bias = false}},
                        {1, 12 * b, 28, {.count = 13 * b}},
                        {1, 16 * b, 60, {.count = 16 * b, .groups = 16 * b}},
                        {1, 8 * b, 40, {.count = 8 * b, .groups = 4}},
                        {1, 3, 80, {.count = 6 * b, .kernel = 7}},
                        {2, 12 * b, 20, {.count = 13 * b, .kernel = 1}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.batch, " ", c.channels, " ", c.filters.count));
    Symbol data = Symbol::Variable("data");
    // Depthwise convolutions take blocks only from another operator.
    const bool depthwise = c.filters.groups == c.channels;
    if (depthwise) data = Conv(data, "point", {.count = c.channels, .kernel = 1});
    const Symbol net = Conv(data, "conv", c.filters);
    BindOptions options = Options(net, {c.batch, c.channels, c.extent, c.extent});
    const std::vector<float> plain = Output(*Bind(net, options));
    for (const bool winograd : {true, false}) {
      if (!winograd) options.disabled_passes = {"winograd"};
      const auto packed = Bind(net, WithConstants(options));
      if (NumPacked(*packed) >= 0) {
        EXPECT_EQ(NumPacked(*packed), depthwise ? 2 : 1);
      }
      const std::vector<float> expected = Output(*packed);
      ExpectNear(expected, plain);
      for (const int threads : {1, 3, 5}) {
        SetNumThreads(threads);
        EXPECT_EQ(Output(*packed), expected) << threads;
      }
      SetNumThreads(0);
    }
  }
}

TEST(PackWeightsTest, WinogradWithWhatIsFused) {
  const int64_t b = Block();
  Symbol x = Relu(Conv(Symbol::Variable("data"), "first", {.count = 8 * b, .no_bias = false}));
  Symbol y = op::BatchNorm(Conv(x, "second", {.count = 8 * b}), {.fix_gamma = false, .name = "bn"});
  x = Relu(x + y);
  x = x + Conv(x, "third", {.count = 8 * b, .no_bias = false});
  x = op::clip(x, {.a_min = 0, .a_max = 2000});  // sums are of this magnitude
  // Strides and windows of other sizes keep the direct algorithm, and so do fewer than 16 filters.
  x = Conv(x, "few", {.count = b});
  x = Conv(x, "point", {.count = 8 * b, .kernel = 1});
  x = op::Convolution(x, {.kernel = {3, 3}, .stride = {2, 2}, .num_filter = 8 * b, .name = "far"});
  for (const int64_t batch : {1, 3, 8}) {
    for (const Shape& image : {Shape({batch, 8 * b, 28, 28}), Shape({batch, 8 * b, 9, 15})}) {
      const BindOptions options = Options(x, image);
      const auto executor = Bind(x, WithConstants(options));
      if (NumTransformed(*executor) >= 0) {
        EXPECT_EQ(NumTransformed(*executor), b == 16 ? 4 : 3);
      }
      ExpectNear(Output(*executor), Output(*Bind(x, options)));
    }
  }
}

// Tiles extend over the edges of images.
TEST(PackWeightsTest, WinogradOfOddImages) {
  const int64_t b = Block();
  for (const int64_t pad : {0, 1, 2}) {
    const Symbol net = op::Convolution(
        Symbol::Variable("data"),
        {.kernel = {3, 3}, .pad = {pad, 1}, .num_filter = 4 * b, .no_bias = true, .name = "conv"});
    for (const Shape& image : {Shape({8, 4 * b, 9, 15}), Shape({2, 4 * b, 17, 30}),
                               Shape({1, 4 * b, 3, 121}), Shape({1, 4 * b, 61, 7})}) {
      const BindOptions options = Options(net, image);
      ExpectNear(Output(*Bind(net, WithConstants(options))), Output(*Bind(net, options)));
    }
  }
}

// Few filters, and small maps, do not repay Winograd's transforms.
TEST(PackWeightsTest, WinogradWhereItIsFaster) {
  const int64_t b = Block();
  const auto transformed = [&](const Shape& image, int64_t filters) {
    const Symbol net = Conv(Symbol::Variable("data"), "conv", {.count = filters});
    return NumTransformed(*Bind(net, WithConstants(Options(net, image))));
  };
  if (!HasWinograd()) {
    GTEST_SKIP() << "neither oneDNN's nor cooper's Winograd runs on this processor";
  }
  EXPECT_EQ(transformed({1, b, 28, 28}, 16), 1);
  EXPECT_EQ(transformed({1, 32, 28, 28}, 8), 0);   // 8 filters, expected a multiple of 16
  EXPECT_EQ(transformed({1, 32, 28, 28}, 40), 0);  // 40 is no multiple of 16
  EXPECT_EQ(transformed({1, 64, 7, 7}, 64), 1);
  EXPECT_EQ(transformed({8, 64, 5, 5}, 64), 0);  // 25 of 64 results of tiles are used
  EXPECT_EQ(transformed({3, 64, 4, 4}, 64), 0);  // three tiles
  EXPECT_EQ(transformed({4, 64, 4, 4}, 64), 1);
  // A large weight for four tiles: with AVX-512 the direct product is faster, or from 256 filters
  // on oneDNN's Winograd.
  EXPECT_EQ(transformed({1, 256, 7, 7}, 192), b == 16 ? 0 : 1);
  EXPECT_EQ(transformed({2, 256, 7, 7}, 192), 1);
  EXPECT_EQ(transformed({1, 256, 7, 7}, 256), 1);
}

TEST(PackWeightsTest, OtherShapesShareThemWhereTheyLieAlike) {
  BindOptions options = Options(Network(), {4, 3, 12, 12});
  const auto folded = std::make_shared<FoldedArrays>();
  options.folded = folded;
  const auto large = Bind(Network(), WithConstants(options));
  options.shapes["data"] = {2, 3, 10, 12};
  const auto other = Bind(Network(), WithConstants(options));
  int shared = 0;
  for (const std::string& name : large->arg_names()) {
    if (!absl::StartsWith(name, "_packed_weight") && !absl::StartsWith(name, "_winograd_weight")) {
      continue;
    }
    const NDArray array = other->arg(name);
    if (!array.is_null() && array.raw_data() == large->arg(name).raw_data()) ++shared;
  }
  if (NumPacked(*large) >= 0) {
    EXPECT_EQ(shared, NumPacked(*large));
  }
}

TEST(PackWeightsTest, SmallerImagesAndBatches) {
  const BindOptions options = Options(Network(), {4, 3, 12, 12});
  const auto large = Bind(Network(), WithConstants(options));
  for (const Shape& shape : {Shape({3, 3, 12, 12}), Shape({1, 3, 12, 12}), Shape({4, 3, 5, 7})}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto small,
                                large->Reshape({{"data", shape}}, /*partial_shaping=*/true));
    BindOptions own = options;
    own.shapes["data"] = shape;
    ExpectNear(Output(*small), Output(*Bind(Network(), own)));
  }
}

// With a small batch, a convolution with many filters is cut into slices of filters, whose size
// depends on the batch size. All batch sizes share one packed weight.
TEST(PackWeightsTest, BatchesOfAllSizesShareWeights) {
  Symbol net = Conv(Symbol::Variable("data"), "first", {.count = 32 * Block(), .kernel = 1});
  net = Conv(net, "second", {.count = 32 * Block(), .kernel = 1});
  const BindOptions options = Options(net, {8, 32 * Block(), 14, 14});
  const auto large = Bind(net, WithConstants(options));
  for (const int64_t batch : {1, 2, 3, 5}) {
    const Shape shape({batch, 32 * Block(), 14, 14});
    COOPER_EXPECT_OK(large->compiled()->Resize({{"data", shape}}).status());
    COOPER_ASSERT_OK_AND_ASSIGN(const auto small,
                                large->Reshape({{"data", shape}}, /*partial_shaping=*/true));
    EXPECT_EQ(small->arg_names(), large->arg_names());
    BindOptions own = options;
    own.shapes["data"] = shape;
    ExpectNear(Output(*small), Output(*Bind(net, own)));
  }
}

TEST(PackWeightsTest, MonitorSeesTheGraphAsWritten) {
  const BindOptions options = Options(Network(), {1, 3, 12, 12});
  const auto executor = Bind(Network(), WithConstants(options));
  std::vector<std::string> seen;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray&) { seen.push_back(name); }, false);
  ExpectNear(Output(*executor), Output(*Bind(Network(), options)));
  EXPECT_THAT(seen, testing::Contains("bn1_output"));
}

TEST(PackWeightsTest, OnlyWithoutGradientsAndOfConstants) {
  BindOptions options = Options(Network(), {1, 3, 12, 12});
  BindOptions trains = WithConstants(options);
  trains.grad_reqs["data"] = WriteReq::kWrite;
  EXPECT_LE(NumPacked(*Bind(Network(), trains)), 0);
  for (const char* pass : {"packed_weights", "blocked_channels", "constants"}) {
    BindOptions without = WithConstants(options);
    without.disabled_passes = {pass, "winograd"};
    const auto executor = Bind(Network(), without);
    EXPECT_LE(NumPacked(*executor), 0) << pass;
    ExpectNear(Output(*executor), Output(*Bind(Network(), options)));
  }
  // Moving statistics that may change cannot be folded into a weight.
  BindOptions arguments = WithConstants(options);
  for (const auto& [name, array] : options.auxs) arguments.constants.erase(name);
  const auto executor = Bind(Network(), arguments);
  if (NumPacked(*executor) >= 0) {
    EXPECT_EQ(NumPacked(*executor), 3);
  }
  ExpectNear(Output(*executor), Output(*Bind(Network(), options)));
}

TEST(PackWeightsTest, ConstantStatesAreForPredictionAlone) {
  const auto executor = Bind(Network(), WithConstants(Options(Network(), {1, 3, 12, 12})));
  EXPECT_THAT(executor->Forward(/*is_train=*/true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("is_train"), HasSubstr("'bn"))));
  COOPER_EXPECT_OK(executor->Forward(/*is_train=*/false));
}

// Constants have no effect where there are gradients, in either mode of the forward pass.
TEST(PackWeightsTest, ConstantStatesOfATrainedNetwork) {
  BindOptions options = WithConstants(Options(Network(), {1, 3, 12, 12}));
  options.grad_reqs["data"] = WriteReq::kWrite;
  const auto executor = Bind(Network(), options);
  COOPER_EXPECT_OK(executor->Forward(/*is_train=*/true));
  COOPER_EXPECT_OK(executor->Backward({NDArray((*executor->outputs())[0])}));
}

TEST(PackWeightsTest, ConstantsAreNotCopiedInto) {
  const BindOptions options = Options(Network(), {1, 3, 12, 12});
  const auto executor = Bind(Network(), WithConstants(options));
  const std::vector<float> before = Output(*executor);
  for (const char* name : {"last_weight", "bn1_moving_mean"}) {
    const bool is_argument = options.args.contains(name);
    const ArrayMap arrays = {{name, (is_argument ? options.args : options.auxs).at(name)}};
    EXPECT_THAT(executor->CopyParamsFrom(is_argument ? arrays : ArrayMap(),
                                         is_argument ? ArrayMap() : arrays),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(name), HasSubstr("constants"))));
  }
  COOPER_EXPECT_OK(executor->CopyParamsFrom({{"data", executor->arg("data")}}));
  EXPECT_EQ(Output(*executor), before);
}

}  // namespace
}  // namespace cooper
