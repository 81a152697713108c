// Compares the gradients of RNN with projections with central differences. MXNet's outputs are
// golden cases (tests/golden/ops/RNN/projection*); it has no gradient on CPUs.

#include "executor/passes/graph/expand_projection.h"

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "tests/operators/gradient_checker.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AttrMap Attrs(AttrMap more) {
  more.insert({{"mode", "lstm"}, {"state_outputs", "True"}, {"projection_size", "2"}});
  return more;
}

TEST(ExpandProjectionTest, GradientsAreCentralDifferences) {
  const GradientCase kCases[] = {
      {"OneLayer",
       "RNN",
       Attrs({{"state_size", "3"}, {"num_layers", "1"}}),
       {{"data", {3, 2, 2}},
        {"parameters", {4 * 3 * (2 + 2 + 2) + 2 * 3}},
        {"state", {1, 2, 2}},
        {"state_cell", {1, 2, 3}}}},
      {"TwoLayersInBothDirections",
       "RNN",
       Attrs({{"state_size", "3"}, {"num_layers", "2"}, {"bidirectional", "True"}}),
       {{"data", {2, 2, 1}},
        {"parameters", {2 * (4 * 3 * (1 + 2 + 2) + 2 * 3) + 2 * (4 * 3 * (4 + 2 + 2) + 2 * 3)}},
        {"state", {4, 2, 2}},
        {"state_cell", {4, 2, 3}}}},
      {"Clipped",
       "RNN",
       Attrs({{"state_size", "2"},
              {"num_layers", "1"},
              {"lstm_state_clip_min", "-0.3"},
              {"lstm_state_clip_max", "0.3"}}),
       {{"data", {2, 2, 1}},
        {"parameters", {4 * 2 * (1 + 2 + 2) + 2 * 2}},
        {"state", {1, 2, 2}},
        {"state_cell", {1, 2, 2}}}},
  };
  for (const GradientCase& test : kCases) {
    SCOPED_TRACE(test.name);
    CheckGradient(test);
  }
}

TEST(ExpandProjectionTest, NodesThatUseLengthsStayAndAreRefused) {
  const auto bind = [](AttrMap more) {
    const auto symbol = Symbol::Create(
        "RNN", {.name = "rnn", .attrs = Attrs([&] {
                                 more.insert({{"state_size", "3"}, {"num_layers", "1"}});
                                 return more;
                               }())});
    return Executor::SimpleBind(*symbol, {.shapes = {{"rnn_data", {3, 2, 2}}}});
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expanded, bind({}));
  EXPECT_THAT(expanded->DebugString(), Not(HasSubstr("RNN ")));
  EXPECT_THAT(
      bind({{"use_sequence_length", "True"}}).status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no cpu kernel for projection_size 2")));
}

TEST(ExpandProjectionTest, TooManyNodesAreRefused) {
  const auto symbol = Symbol::Create(
      "RNN", {.name = "rnn", .attrs = Attrs({{"state_size", "3"}, {"num_layers", "60000"}})});
  EXPECT_THAT(Executor::SimpleBind(*symbol, {.shapes = {{"rnn_data", {1000, 1, 1}}}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("RNN 'rnn': 1000 steps of 60000 layers and directions")));
}

TEST(ExpandProjectionTest, StepsStayInTheContextGroupOfTheNode) {
  const auto symbol = Symbol::Create(
      "RNN", {.name = "rnn",
              .attrs = Attrs({{"state_size", "3"}, {"num_layers", "1"}, {"__ctx_group__", "b"}})});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(*symbol, {.group2ctx = {{"b", Context::Cpu(1)}},
                                                             .shapes = {{"rnn_data", {3, 2, 2}}}}));
  EXPECT_EQ(executor->output_shapes().size(), 3);
  EXPECT_THAT(executor->DebugString(), HasSubstr("cpu(1)"));
}

}  // namespace
}  // namespace cooper
