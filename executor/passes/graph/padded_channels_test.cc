// Checks that networks whose images are padded to whole blocks compute the same as without blocks,
// and which images are padded.

#include "executor/passes/graph/padded_channels.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "executor/executor.h"
#include "executor/passes/graph/constants_fixtures.h"
#include "executor/passes/graph/facts_fixtures.h"
#include "executor/program/blocked_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/cpu_level.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/nn.h"
#include "symbol/op/operators.h"
#include "symbol/op/shape.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

int64_t Block() { return GetBlockedLayout()->block; }
// Channels of one and a half blocks, which become two.
int64_t Narrow() { return Block() * 3 / 2; }

// One variable, which a network may read twice.
Symbol Data() {
  static const auto* const data = new Symbol(Symbol::Variable("data"));
  return *data;
}

Symbol Conv(const Symbol& x, int64_t filters, int64_t kernel, const std::string& name,
            int64_t groups = 1, int64_t stride = 1) {
  return op::Convolution(x, {.kernel = {kernel, kernel},
                             .stride = {stride, stride},
                             .pad = {kernel / 2, kernel / 2},
                             .num_filter = filters,
                             .num_group = groups,
                             .name = name});
}
Symbol Norm(const Symbol& x, const std::string& name, bool fix_gamma = false) {
  return op::BatchNorm(x, {.fix_gamma = fix_gamma, .name = name});
}
Symbol Relu(const Symbol& x) { return op::Activation(x, {.act_type = "relu"}); }

// Compares predictions with and without blocks. Returns the number of convolutions that have no
// blocks.
int PlainConvolutions(const Symbol& net, bool constants = true, const Shape& data = {}) {
  const BindOptions options = Options(net, data.rank() > 0 ? data : Shape{2, Block(), 9, 10});
  BindOptions plain = options;
  plain.disabled_passes = {"blocked_channels"};
  const auto executor = Bind(net, constants ? WithConstants(options) : options);
  EXPECT_THAT(Output(*executor), Pointwise(FloatNear(2e-3F), Output(*Bind(net, plain))));
  int count = 0;
  const std::string text = executor->DebugString();
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    count += absl::StrContains(line, "Convolution") ? 1 : 0;
  }
  return count;
}

// The processor determines which convolutions have fast code.
void ExpectPlain(int count, int expected) {
  if (GetCpuLevel() >= CpuLevel::kAvx2) {
    EXPECT_EQ(count, expected);
  }
}

TEST(PaddedChannelsTest, ChainsOfConvolutions) {
  for (const bool fix_gamma : {false, true}) {
    Symbol x = Relu(Norm(Conv(Data(), Narrow(), 3, "first"), "bn", fix_gamma));
    x = Relu(Conv(x, Narrow(), 3, "second", 1, 2));
    ExpectPlain(PlainConvolutions(Conv(x, Block(), 1, "third")), 0);
  }
}

// A network whose first convolution reads a plain image.
TEST(PaddedChannelsTest, AfterAPlainImage) {
  const Symbol x = Relu(Norm(Conv(Data(), Narrow(), 3, "first"), "bn"));
  ExpectPlain(PlainConvolutions(Conv(x, Block(), 3, "second"), true, {1, 3, 8, 9}), 0);
}

TEST(PaddedChannelsTest, SumsOfPaddedImages) {
  const Symbol x = Norm(Conv(Data(), Narrow(), 1, "first"), "bn");
  const Symbol y = Norm(Conv(Relu(Conv(x, 2 * Block(), 3, "wide")), Narrow(), 1, "point"), "bn2");
  ExpectPlain(PlainConvolutions(Conv(Relu(x + y), Block(), 3, "last")), 0);
}

// This clip makes the added channels 0.25.
TEST(PaddedChannelsTest, ClipsAboveZero) {
  const Symbol x = op::clip(Conv(Data(), Narrow(), 3, "first"), {.a_min = 0.25, .a_max = 0.5});
  ExpectPlain(PlainConvolutions(Conv(x, Block(), 3, "second")), 0);
}

TEST(PaddedChannelsTest, OtherRanks) {
  for (const int rank : {3, 5}) {
    const std::vector<int64_t> kernel(rank - 2, 3), pad(rank - 2, 1);
    const auto conv = [&](const Symbol& x, int64_t filters, const std::string& name) {
      return op::Convolution(x,
                             {.kernel = kernel, .pad = pad, .num_filter = filters, .name = name});
    };
    const Symbol x = Relu(conv(Data(), Narrow(), "first"));
    std::vector<int64_t> data = {2, Block(), 5, 6, 7};
    data.resize(rank);
    ExpectPlain(PlainConvolutions(conv(x, Block(), "second"), true, Shape(data)), 0);
  }
}

// What is chosen depends on the graph and the block alone, on every processor.
TEST(PaddedChannelsTest, ChoosesImages) {
  const Symbol first = Relu(Conv(Data(), 24, 3, "first"));
  const Symbol second = Conv(first, 24, 3, "second");
  const Symbol net = Conv(first + second, 32, 1, "last");
  const auto chosen = [&](int64_t block, int64_t channels, const std::set<std::string>& constants) {
    const GraphFacts facts = FactsOf(net, {{"data", {2, channels, 9, 9}}}, constants);
    const std::vector<bool> padded = PaddedImages(facts, block);
    return std::ranges::count(padded, true);
  };
  const std::set<std::string> constants = {"first_weight", "first_bias",  "second_weight",
                                           "second_bias",  "last_weight", "last_bias"};
  EXPECT_EQ(chosen(16, 16, constants), 4);  // the convolutions, the relu and the sum
  EXPECT_EQ(chosen(16, 3, constants), 4);
  EXPECT_EQ(chosen(16, 20, constants), 0);
  EXPECT_EQ(chosen(8, 16, constants), 0);  // 24 channels are whole blocks
  EXPECT_EQ(chosen(16, 16, {"first_weight", "first_bias", "second_weight", "second_bias"}), 0);
}

TEST(PaddedChannelsTest, ImagesThatStayAsTheyAre) {
  const Symbol narrow = Relu(Conv(Data(), Narrow(), 3, "first"));
  const struct {
    const char* why;
    Symbol net;
    bool constants;
    int plain;
  } cases[] = {
      {"the weights may change", Conv(narrow, Block(), 3, "second"), false, 2},
      {"the image is the result", narrow, true, 1},
      {"another operator reads it",
       op::Flatten(narrow) + op::Flatten(Conv(narrow, Narrow(), 3, "second")), true, 2},
      {"groups of channels would move", Conv(narrow, Narrow(), 3, "second", Narrow()), true, 2},
      {"more than a third would be added",
       Conv(Conv(Data(), Block() + 1, 3, "first"), Block(), 3, "second"), true, 2},
      {"a convolution without whole blocks reads it", Conv(narrow, Block() + 1, 3, "second"), true,
       2},
      {"the convolution reads no whole blocks",
       Conv(Relu(Conv(Conv(Data(), Block() + 2, 3, "first"), Narrow(), 3, "odd")), Block(), 3,
            "last"),
       true, 3},
      {"a summand comes from another operator",
       Conv(narrow + op::sin(Conv(Data(), Narrow(), 1, "other")), Block(), 3, "second"), true, 3},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.why);
    ExpectPlain(PlainConvolutions(test.net, test.constants), test.plain);
  }
}

}  // namespace
}  // namespace cooper
