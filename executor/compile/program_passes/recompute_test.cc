// Values that are computed a second time: which, what that spares, and that results and gradients
// are the same bits.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random.h"
#include "ndarray/status_matchers.h"
#include "symbol/attr_scope.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kRows = 32, kWidth = 16;

Symbol Var(const std::string& name) {
  return Symbol::Variable(name, {.shape = PartialShape({kRows, kWidth})});
}
Symbol Unary(const char* op, const Symbol& x, const std::string& name = "") {
  return Op(op, {.name = name, .inputs = {x}});
}
Symbol Binary(const char* op, const Symbol& x, const Symbol& y, const std::string& name = "") {
  return Op(op, {.name = name, .inputs = {x, y}});
}
Symbol Layer(const Symbol& x, const std::string& name) {
  return Op("FullyConnected",
            {.name = name, .inputs = {x}, .attrs = {{"num_hidden", absl::StrCat(kWidth)}}});
}

std::vector<uint32_t> Bits(const NDArray& array) {
  std::vector<uint32_t> bits;
  for (const float value : Floats(array)) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

// The nodes that are computed a second time, in that order.
std::vector<std::string> Again(const Executor& executor) {
  std::vector<std::string> nodes;
  for (absl::string_view line : absl::StrSplit(executor.DebugString(), '\n')) {
    if (!absl::ConsumePrefix(&line, "(again) ")) continue;
    line = line.substr(line.find('\'') + 1);
    nodes.emplace_back(line.substr(0, line.find('\'')));
  }
  return nodes;
}

struct Outcome {
  std::vector<std::string> again;
  int64_t planned = 0, plain_planned = 0;
};

// Runs with the pass and without it, and compares all bits.
Outcome RunBoth(const Symbol& symbol, bool tiles = true, const BindOptions& base = {}) {
  Outcome outcome;
  std::vector<std::vector<uint32_t>> results[2];
  for (const bool recompute : {true, false}) {
    BindOptions options = base;
    if (!recompute) options.disabled_passes.insert("recompute");
    if (!tiles) options.disabled_passes.insert("tiles");
    auto bound = Executor::SimpleBind(symbol, options);
    EXPECT_TRUE(bound.ok()) << bound.status();
    Executor& executor = **bound;
    uint64_t seed = 1;
    for (const auto& [name, array] : executor.arg_dict()) FillRandom(array, seed++);
    for (int step = 0; step < 2; ++step) {
      for (const std::string& name : options.unbound_args) {
        COOPER_EXPECT_OK(executor.SetArg(name, RandomArrays({{kRows, kWidth}}, 50 + step)[0]));
      }
      COOPER_EXPECT_OK(executor.Forward(true));
      const std::vector<NDArray> heads = RandomArrays(executor.output_shapes(), 100);
      COOPER_EXPECT_OK(executor.Backward(heads));
      const absl::Span<const NDArray> outputs = *executor.outputs();
      for (const NDArray& output : outputs) results[recompute].push_back(Bits(output));
      for (const auto& [name, array] : executor.grad_dict()) {
        results[recompute].push_back(Bits(array));
      }
      for (const auto& [name, array] : executor.aux_dict()) {
        results[recompute].push_back(Bits(array));
      }
    }
    if (recompute) outcome.again = Again(executor);
    (recompute ? outcome.planned : outcome.plain_planned) = executor.memory().planned_bytes;
  }
  EXPECT_EQ(results[0], results[1]);
  return outcome;
}

// x * sigmoid(x) between layers: of the three arrays of each, one follows from the others.
TEST(RecomputeTest, AnActivationOfSeveralOperatorsKeepsOneArray) {
  Symbol x = Var("data");
  for (int i = 0; i < 8; ++i) {
    x = Layer(x, absl::StrCat("fc", i));
    x = Binary("elemwise_mul", x, Unary("sigmoid", x, absl::StrCat("gate", i)),
               absl::StrCat("act", i));
  }
  const Outcome outcome = RunBoth(Layer(x, "last"));
  EXPECT_THAT(outcome.again, Contains("gate1"));
  EXPECT_THAT(outcome.again, Contains("act1"));
  EXPECT_LE(outcome.planned, outcome.plain_planned * 55 / 100);
}

// What only the forward pass has is computed again too, where it leads to what is needed.
TEST(RecomputeTest, InputsThatAreNoMoreAreComputedAgain) {
  Symbol x = Var("data");
  for (int i = 0; i < 6; ++i) {
    const std::string n = absl::StrCat(i);
    const Symbol sum =
        Binary("elemwise_add", Unary("sin", Var("u" + n), "sin" + n), Var("v" + n), "sum" + n);
    x = Binary("elemwise_mul", Layer(x, "fc" + n), Unary("tanh", sum, "tanh" + n), "act" + n);
  }
  const Outcome outcome = RunBoth(x, /*tiles=*/false);
  EXPECT_THAT(outcome.again,
              AllOf(Contains("sin2"), Contains("sum2"), Contains("tanh2"), Not(Contains("fc2"))));
  EXPECT_LE(outcome.planned, outcome.plain_planned * 3 / 4);
}

// What is computed again reads the caller's array, which may be another one in each step.
TEST(RecomputeTest, ArgumentsThatAreSetInEachStep) {
  Symbol x = Var("data");
  const Symbol too = Var("data_too");
  for (int i = 0; i < 6; ++i) {
    const std::string n = absl::StrCat(i);
    x = Binary("elemwise_mul", Layer(x, "fc" + n), Unary("sin", too, "sin" + n));
  }
  const Outcome outcome = RunBoth(x, /*tiles=*/false, {.unbound_args = {"data_too"}});
  EXPECT_THAT(outcome.again, Contains("sin2"));
}

TEST(RecomputeTest, OnSeveralContexts) {
  Symbol x = Var("data");
  for (int i = 0; i < 8; ++i) {
    const AttrScope scope(AttrMap{{"ctx_group", i < 4 ? "first" : "second"}});
    x = Layer(x, absl::StrCat("fc", i));
    x = Binary("elemwise_mul", x, Unary("sigmoid", x, absl::StrCat("gate", i)));
  }
  const Outcome outcome =
      RunBoth(Layer(x, "last"), /*tiles=*/true,
              {.group2ctx = {{"first", Context::Cpu(0)}, {"second", Context::Cpu(1)}}});
  EXPECT_THAT(outcome.again, AllOf(Contains("gate1"), Contains("gate5")));
}

// Its states are updated once a step.
TEST(RecomputeTest, BatchNormIsComputedOnce) {
  Symbol x = Var("data");
  for (int i = 0; i < 6; ++i) {
    const std::string n = absl::StrCat(i);
    x = Op("BatchNorm", {.name = "norm" + n, .inputs = {Layer(x, "fc" + n)}});
    x = Binary("elemwise_mul", x[0], Unary("sigmoid", x[0], "gate" + n));
  }
  const Outcome outcome = RunBoth(Layer(x, "last"));
  EXPECT_THAT(outcome.again, AllOf(Contains("gate1"), Not(Contains("norm1"))));
}

TEST(RecomputeTest, NothingWhereInputsTakeAsMuchAsTheOutput) {
  Symbol x = Var("data");
  for (int i = 0; i < 6; ++i) x = Unary("tanh", Layer(x, absl::StrCat("fc", i)));
  const Outcome outcome = RunBoth(x);
  EXPECT_THAT(outcome.again, IsEmpty());
  EXPECT_EQ(outcome.planned, outcome.plain_planned);
}

TEST(RecomputeTest, NothingWithoutABackwardPass) {
  Symbol x = Var("data");
  for (int i = 0; i < 6; ++i) {
    x = Layer(x, absl::StrCat("fc", i));
    x = Binary("elemwise_mul", x, Unary("sigmoid", x));
  }
  auto executor = Executor::SimpleBind(x, {.grad_req = WriteReq::kNull});
  ASSERT_TRUE(executor.ok()) << executor.status();
  EXPECT_THAT(Again(**executor), IsEmpty());
}

// The caller reads an output after Backward.
TEST(RecomputeTest, OutputsAreKept) {
  Symbol x = Var("data");
  std::vector<Symbol> outputs;
  for (int i = 0; i < 6; ++i) {
    x = Layer(x, absl::StrCat("fc", i));
    x = Binary("elemwise_mul", x, Unary("sigmoid", x, absl::StrCat("gate", i)),
               absl::StrCat("act", i));
    outputs.push_back(x);
  }
  const Outcome outcome = RunBoth(*Symbol::Group(outputs));
  EXPECT_THAT(outcome.again, AllOf(Contains("gate1"), Each(StartsWith("gate"))));
}

// A monitor sees the graph as it was written: each node once.
TEST(RecomputeTest, AMonitorSeesEachNodeOnce) {
  Symbol x = Var("data");
  for (int i = 0; i < 4; ++i) {
    x = Layer(x, absl::StrCat("fc", i));
    x = Binary("elemwise_mul", x, Unary("sigmoid", x, absl::StrCat("gate", i)));
  }
  x = Layer(x, "last");
  auto bound = Executor::SimpleBind(x, {.disabled_passes = {"tiles"}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  Executor& executor = **bound;
  EXPECT_THAT(Again(executor), Contains("gate0"));
  std::map<std::string, int> seen;
  executor.SetMonitorCallback([&](const std::string& name, const NDArray&) { ++seen[name]; });
  COOPER_ASSERT_OK(executor.Forward(true));
  const NDArray head = *NDArray::Full({kRows, kWidth}, 1);
  COOPER_ASSERT_OK(executor.Backward({&head, 1}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(seen[absl::StrCat("gate", i, "_output")], 1);
}

// Element-wise operators and layers over what has been made before, at random.
Symbol RandomNet(uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<Symbol> made = {Var("data"), Var("u"), Var("v")};
  const auto any = [&] {  // mostly of what is new
    const size_t back = std::min<size_t>(random.NextBelow(6), random.NextBelow(6));
    return made[made.size() - 1 - std::min(back, made.size() - 1)];
  };
  const int size = 10 + static_cast<int>(random.NextBelow(30));
  for (int i = 0; i < size; ++i) {
    const char* const unary[] = {"tanh", "sigmoid", "square", "cos"};
    const char* const binary[] = {"elemwise_mul", "elemwise_add", "elemwise_sub"};
    switch (random.NextBelow(4)) {
      case 0:
        made.push_back(Layer(any(), absl::StrCat("fc", i)));
        break;
      case 1:
        made.push_back(Unary("tanh", Binary(binary[random.NextBelow(3)], any(), any())));
        break;
      case 2:
        made.push_back(Unary(unary[random.NextBelow(4)], any()));
        break;
      default:
        made.push_back(Binary(binary[random.NextBelow(3)], any(), any()));
    }
  }
  Symbol sum = made.back();
  for (int i = 0; i < 3; ++i) sum = Binary("elemwise_add", sum, any());
  if (seed % 3 == 0) return *Symbol::Group({sum, any()});
  return sum;
}

TEST(RecomputeTest, RandomNetsComputeTheSameInNoMoreMemory) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome outcome = RunBoth(RandomNet(seed), /*tiles=*/seed % 2 == 0);
    EXPECT_LE(outcome.planned, outcome.plain_planned);
    if (!outcome.again.empty()) ++changed;
  }
  EXPECT_GE(changed, 10);
}

}  // namespace
}  // namespace cooper
