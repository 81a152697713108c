#include "tools/memory_plan_json.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

using Json = nlohmann::json;

// Returns the memory of a chain of layers with `hidden` units.
PlacedMemory Chain(int layers, int hidden, bool training) {
  Symbol x = Symbol::Variable("data");
  for (int i = 0; i < layers; ++i) {
    x = op::FullyConnected(x, {.num_hidden = hidden, .name = absl::StrCat("fc", i)});
    x = op::Activation(x, {.act_type = "tanh", .name = absl::StrCat("act", i)});
  }
  x = op::SoftmaxOutput(x, {.name = "softmax"});
  BindOptions options;
  options.shapes = {{"data", PartialShape({32, 10})}, {"softmax_label", PartialShape({32})}};
  options.grad_req = training ? WriteReq::kWrite : WriteReq::kNull;
  options.grad_reqs = {{"data", WriteReq::kNull}, {"softmax_label", WriteReq::kNull}};
  return PlacedMemoryOf(**Executor::Compile(x, options));
}

TEST(MemoryPlanJsonTest, HasTheValuesAndThePeak) {
  const PlacedMemory memory{.values = {{"a\xff", 100, 0, 0, 1},
                                       {"b", 50, 128, 1, 3, PlacedValue::Kind::kWorkspace},
                                       {"c", 90, 0, 2, 2, PlacedValue::Kind::kGradient},
                                       {"d", 10, 192, 3, 3}},
                            .arena_bytes = 202,
                            .num_steps = 4,
                            .num_forward = 2};
  EXPECT_EQ(memory.PeakStep(), 1);
  EXPECT_EQ(memory.BytesAt(1), 150);
  EXPECT_EQ(memory.BytesAt(3), 60);
  const Json json = Json::parse(MemoryPlanJson("<net>", memory));
  EXPECT_EQ(json["kind"], "memory_plan");
  EXPECT_EQ(json["title"], "<net>");
  EXPECT_EQ(json["arena_bytes"], 202);
  EXPECT_EQ(json["num_steps"], 4);
  EXPECT_EQ(json["num_forward"], 2);
  EXPECT_EQ(json["peak_step"], 1);
  EXPECT_EQ(json["peak_bytes"], 150);
  ASSERT_EQ(json["values"].size(), 4);
  EXPECT_EQ(json["values"][0]["name"], "a\uFFFD");
  EXPECT_EQ(json["values"][0]["kind"], "activation");
  EXPECT_EQ(json["values"][1], Json({{"name", "b"},
                                     {"kind", "workspace"},
                                     {"bytes", 50},
                                     {"offset", 128},
                                     {"first", 1},
                                     {"last", 3}}));
  EXPECT_EQ(json["values"][2]["kind"], "gradient");
}

TEST(MemoryPlanJsonTest, AProgramWithoutValuesHasNoPeak) {
  const Json json = Json::parse(MemoryPlanJson("nothing", {}));
  EXPECT_EQ(json["peak_bytes"], 0);
  EXPECT_EQ(json["values"], Json::array());
}

TEST(MemoryPlanJsonTest, TheBoxesOfAProgramAreItsPlan) {
  for (const bool training : {false, true}) {
    const PlacedMemory memory = Chain(6, 50, training);
    ASSERT_FALSE(memory.values.empty());
    for (const PlacedValue& value : memory.values) {
      EXPECT_FALSE(value.name.empty());
      EXPECT_LE(value.offset + value.bytes, memory.arena_bytes) << value.name;
      EXPECT_LT(value.last, memory.num_steps) << value.name;
    }
    EXPECT_EQ(training, memory.num_forward < memory.num_steps);
    EXPECT_LE(memory.BytesAt(memory.PeakStep()), memory.arena_bytes);
  }
}

TEST(MemoryPlanJsonTest, ValuesHaveKinds) {
  const auto count = [](const PlacedMemory& memory, PlacedValue::Kind kind) {
    return std::count_if(memory.values.begin(), memory.values.end(),
                         [&](const PlacedValue& value) { return value.kind == kind; });
  };
  EXPECT_EQ(count(Chain(6, 50, false), PlacedValue::Kind::kGradient), 0);
  EXPECT_GT(count(Chain(6, 50, false), PlacedValue::Kind::kActivation), 0);
  const PlacedMemory memory = Chain(6, 50, true);
  EXPECT_GT(count(memory, PlacedValue::Kind::kGradient), 0);
  for (const PlacedValue& value : memory.values) {
    if (absl::StartsWith(value.name, "scratch memory of ")) {
      EXPECT_EQ(value.kind, PlacedValue::Kind::kWorkspace) << value.name;
    } else {
      EXPECT_EQ(value.kind == PlacedValue::Kind::kGradient, value.first >= memory.num_forward)
          << value.name;
    }
  }
}

}  // namespace
}  // namespace cooper
