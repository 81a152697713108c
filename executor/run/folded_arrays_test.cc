// Tests that executors with constants compute the same as executors without, and compute values
// that depend on constants alone once.

#include "executor/run/folded_arrays.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Symbol Dense(const char* name, const Symbol& data, AttrMap attrs) {
  return Op("FullyConnected", {.name = name, .inputs = {data}, .attrs = std::move(attrs)});
}

// Returns two layers, the second without a bias and over the last axis alone, and a classifier.
Symbol Network() {
  const Symbol hidden =
      Op("tanh", {.inputs = {Dense("fc1", Symbol::Variable("data"), {{"num_hidden", "7"}})}});
  const Symbol wide =
      Dense("fc2", hidden, {{"num_hidden", "5"}, {"no_bias", "True"}, {"flatten", "False"}});
  const Symbol scores = Dense("pred", wide, {{"num_hidden", "4"}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {scores}});
}

ArrayMap Params() {
  const std::vector<NDArray> arrays = RandomArrays({{7, 6}, {7}, {5, 7}, {4, 5}, {4}}, 1);
  return {{"fc1_weight", arrays[0]},
          {"fc1_bias", arrays[1]},
          {"fc2_weight", arrays[2]},
          {"pred_weight", arrays[3]},
          {"pred_bias", arrays[4]}};
}

BindOptions Options(const Shape& data, const ArrayMap& params) {
  return {.shapes = {{"data", data}}, .grad_req = WriteReq::kNull, .args = params};
}

BindOptions WithConstants(BindOptions options) {
  for (const auto& [name, array] : options.args) options.constants.insert(name);
  return options;
}

std::unique_ptr<Executor> Bind(const Symbol& symbol, const BindOptions& options) {
  auto executor = Executor::SimpleBind(symbol, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

std::vector<float> Outputs(Executor& executor, uint64_t seed = 9) {
  const NDArray data = executor.arg("data");
  COOPER_EXPECT_OK(data.CopyFrom(RandomArrays({data.shape()}, seed)[0]));
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/false));
  return *(*executor.outputs())[0].ToVector<float>();
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  // Probabilities of scores that are sums of up to 7 terms below 1.
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-6) << i;
}

TEST(FoldedArraysTest, NetworkComputesTheSame) {
  const ArrayMap params = Params();
  const auto plain = Bind(Network(), Options({3, 6}, params));
  const auto folded = Bind(Network(), WithConstants(Options({3, 6}, params)));
  EXPECT_THAT(folded->arg_names(),
              AllOf(Contains("transpose(fc1_weight)"), Contains("transpose(fc2_weight)"),
                    Contains("transpose(pred_weight)"), Contains("fc1_weight")));
  EXPECT_EQ(folded->arg("transpose(fc2_weight)").shape(), Shape({7, 5}));
  EXPECT_THAT(folded->DebugString(),
              AllOf(HasSubstr("_fully_connected_transposed"),
                    HasSubstr("_fc_softmax_output_transposed"), Not(HasSubstr(" transpose "))));
  ExpectNear(Outputs(*folded), Outputs(*plain));
}

TEST(FoldedArraysTest, AreComputedOnceForAll) {
  BindOptions options = WithConstants(Options({8, 6}, Params()));
  options.folded = std::make_shared<FoldedArrays>();
  const auto first = Bind(Network(), options);
  options.shapes["data"] = {3, 6};
  const auto second = Bind(Network(), options);
  for (const char* name : {"transpose(fc1_weight)", "transpose(pred_weight)"}) {
    EXPECT_EQ(first->arg(name).raw_data(), second->arg(name).raw_data());
  }
}

TEST(FoldedArraysTest, SmallerShapesRunInThePlan) {
  const ArrayMap params = Params();
  const BindOptions options = WithConstants(Options({8, 6}, params));
  const auto large = Bind(Network(), options);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto small,
                              large->Reshape({{"data", {3, 6}}}, /*partial_shaping=*/true));
  EXPECT_EQ(small->arg("transpose(fc1_weight)").raw_data(),
            large->arg("transpose(fc1_weight)").raw_data());
  ExpectNear(Outputs(*small), Outputs(*Bind(Network(), Options({3, 6}, params))));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto larger,
                              small->Reshape({{"data", {9, 6}}}, /*partial_shaping=*/true,
                                             /*allow_up_sizing=*/true));
  ExpectNear(Outputs(*larger), Outputs(*Bind(Network(), Options({9, 6}, params))));
}

TEST(FoldedArraysTest, MonitorSeesTheGraphAsWritten) {
  const ArrayMap params = Params();
  const auto executor = Bind(Network(), WithConstants(Options({3, 6}, params)));
  std::vector<std::string> seen;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray&) { seen.push_back(name); }, false);
  ExpectNear(Outputs(*executor), Outputs(*Bind(Network(), Options({3, 6}, params))));
  EXPECT_THAT(seen, AllOf(Contains("fc1_output"), Contains("pred_output")));
}

TEST(FoldedArraysTest, SingleRowsReadTheWeightAsItIs) {
  const auto executor = Bind(Network(), WithConstants(Options({1, 6}, Params())));
  EXPECT_THAT(executor->DebugString(), Not(HasSubstr("_fully_connected_transposed")));
}

TEST(FoldedArraysTest, NotWithGradientsNorWithoutThePasses) {
  BindOptions options = WithConstants(Options({3, 6}, Params()));
  options.grad_reqs["data"] = WriteReq::kWrite;
  EXPECT_THAT(Bind(Network(), options)->arg_names(), Not(Contains("transpose(fc1_weight)")));
  options.grad_reqs.clear();
  options.disabled_passes = {"transposed_weights"};
  EXPECT_THAT(Bind(Network(), options)->arg_names(), Not(Contains("transpose(fc1_weight)")));
  options.disabled_passes = {"constants"};
  const auto executor = Bind(Network(), options);
  EXPECT_THAT(executor->arg_names(), Not(Contains("transpose(fc1_weight)")));
  ExpectNear(Outputs(*executor), Outputs(*Bind(Network(), Options({3, 6}, Params()))));
}

// All expressions of constants are folded, through several nodes, except views, outputs of the
// graph, and random numbers.
TEST(FoldedArraysTest, AnyExpression) {
  const Symbol w = Symbol::Variable("w");
  const Symbol scaled = Op("tanh", {.name = "any", .inputs = {Op("square", {.inputs = {w}})}});
  const Symbol flat = Op("Reshape", {.inputs = {w}, .attrs = {{"shape", "(6,)"}}});
  const Symbol sum = Op("broadcast_add", {.inputs = {Symbol::Variable("data"), scaled}});
  const Symbol both = Op("broadcast_mul", {.inputs = {sum, flat}});
  const Symbol output = Op("exp", {.name = "exp", .inputs = {w}});
  const ArrayMap params = {{"w", RandomArrays({{1, 6}}, 3)[0]}};
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol group, Symbol::Group({both, output}));
  const auto plain = Bind(group, Options({3, 6}, params));
  const auto folded = Bind(group, WithConstants(Options({3, 6}, params)));
  EXPECT_THAT(folded->arg_names(), testing::UnorderedElementsAre("data", "w", "tanh(square(w))"));
  EXPECT_EQ(Outputs(*folded), Outputs(*plain));
  EXPECT_EQ(Floats((*folded->outputs())[1]), Floats((*plain->outputs())[1]));
}

// Each node uses the previous one twice, or the graph is a long chain. Neither is folded, because
// its description would be too long.
TEST(FoldedArraysTest, SharedAndDeepExpressionsAreLeft) {
  for (const bool shared : {true, false}) {
    Symbol value = Symbol::Variable("w");
    for (int i = 0; i < (shared ? 60 : 5000); ++i) {
      const std::vector<Symbol> both = {value, value};
      value = shared ? Op("elemwise_mul", {.inputs = both}) : Op("tanh", {.inputs = {value}});
    }
    const Symbol sum = Op("broadcast_add", {.inputs = {Symbol::Variable("data"), value}});
    const ArrayMap params = {{"w", RandomArrays({{1, 6}}, 3)[0]}};
    const auto plain = Bind(sum, Options({3, 6}, params));
    const auto folded = Bind(sum, WithConstants(Options({3, 6}, params)));
    EXPECT_THAT(folded->arg_names(), testing::UnorderedElementsAre("data", "w"));
    EXPECT_EQ(Outputs(*folded), Outputs(*plain));
  }
}

// Folded values have names like arguments, but no function changes their arrays.
TEST(FoldedArraysTest, StayAsTheyAre) {
  const auto executor = Bind(Network(), WithConstants(Options({3, 6}, Params())));
  const std::vector<float> before = Outputs(*executor);
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("'transpose(fc1_weight)' is one of the constants"));
  const NDArray other = RandomArrays({{6, 7}}, 1)[0];
  EXPECT_THAT(executor->CopyParamsFrom({{"transpose(fc1_weight)", other}}), refused);
  EXPECT_THAT(executor->SetArg("transpose(fc1_weight)", other), refused);
  executor->SetMonitorCallback([](const std::string&, const NDArray&) {});
  ExpectNear(Outputs(*executor), before);
  EXPECT_THAT(executor->SetArg("transpose(fc1_weight)", other), refused);
}

TEST(FoldedArraysTest, Errors) {
  BindOptions options = WithConstants(Options({3, 6}, Params()));
  const auto executor = Bind(Network(), options);
  EXPECT_THAT(
      executor->SetArg("fc1_weight", RandomArrays({{7, 6}}, 1)[0]),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'fc1_weight' is one of the")));
  options.constants.insert("fc3_weight");
  EXPECT_THAT(Executor::SimpleBind(Network(), options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'fc3_weight' is to be a constant")));
  options = WithConstants(Options({3, 6}, Params()));
  options.args.erase("fc1_weight");
  EXPECT_THAT(Executor::SimpleBind(Network(), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("computing 'transpose(fc1_weight)' once"),
                             HasSubstr("constant 'fc1_weight' has no array"))));
}

}  // namespace
}  // namespace cooper
