// Tests chains of element-wise operators that run tile by tile: which ones the pass "tiles" finds,
// and that it changes no result.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Matches the text of a program in which operator `op` is in chain `chain`.
auto InChain(const std::string& op, int chain = 0) {
  return ContainsRegex(absl::StrCat("(^|\n)", op, " [^\n]* \\(tiles ", chain, "\\)\n"));
}

// Returns the element-wise part of an LSTM's step with a peephole, which no pass recognises as a
// cell.
Symbol PeepholeStep() {
  NameManager names;  // automatic names start from 0 again
  const Symbol gates[] = {Symbol::Variable("i"), Symbol::Variable("f"), Symbol::Variable("g"),
                          Symbol::Variable("o")};
  const Symbol state = Symbol::Variable("c");
  const auto op = [](const char* name, const std::vector<Symbol>& inputs) {
    return Op(name, {.inputs = inputs});
  };
  const Symbol in = op("sigmoid", {op("elemwise_add", {gates[0], state})});
  const Symbol forget = op("sigmoid", {op("elemwise_add", {gates[1], state})});
  const Symbol next =
      op("elemwise_add",
         {op("elemwise_mul", {forget, state}),
          op("elemwise_mul",
             {in, Op("Activation", {.inputs = {gates[2]}, .attrs = {{"act_type", "tanh"}}})})});
  return op("elemwise_mul",
            {op("sigmoid", {op("broadcast_add", {gates[3], next})}), op("tanh", {next})});
}

struct Result {
  std::vector<float> output;
  std::map<std::string, std::vector<float>> grads;
  std::string program;
  int64_t planned_bytes = 0;
};

Result RunNet(const Symbol& net, BindOptions options, bool with_tiles) {
  if (!with_tiles) options.disabled_passes.insert("tiles");
  auto bound = Executor::SimpleBind(net, options);
  EXPECT_TRUE(bound.ok()) << bound.status();
  Executor& executor = **bound;
  uint64_t seed = 1;
  for (const auto& [name, array] : executor.arg_dict()) FillRandom(array, seed++);
  for (const auto& [name, array] : executor.grad_dict()) EXPECT_TRUE(array.Fill(0.25).ok());
  Result result{.program = executor.DebugString(),
                .planned_bytes = executor.memory().planned_bytes};
  const bool train = !executor.grad_dict().empty();
  for (int run = 0; run < 2; ++run) {  // in the second run the arrays hold the values of the first
    COOPER_EXPECT_OK(executor.Forward(train));
    result.output = Floats((*executor.outputs())[0]);
    if (!train) continue;
    const NDArray head = *NDArray::Empty(executor.output_shapes()[0]);
    FillRandom(head, 99);
    COOPER_EXPECT_OK(executor.Backward({head}));
  }
  for (const auto& [name, array] : executor.grad_dict()) result.grads[name] = Floats(array);
  return result;
}

KnownShapes AllOf(const Symbol& net, const Shape& shape) {
  KnownShapes shapes;
  for (const std::string& name : net.ListArguments()) shapes[name] = PartialShape(shape);
  return shapes;
}

// Tests sizes below and above a tile, and sizes for several threads whose last tiles are not full.
TEST(TilesTest, ResultsAreTheSame) {
  const Symbol net = PeepholeStep();
  const int threads = NumThreads();
  for (int num_threads : {1, 3}) {
    SetNumThreads(num_threads);
    for (int64_t rows : {1, 32, 1025}) {
      for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd, WriteReq::kNull}) {
        SCOPED_TRACE(
            absl::StrCat(num_threads, " threads, ", rows, " rows, req ", static_cast<int>(req)));
        const BindOptions options{.shapes = AllOf(net, {rows, 33}), .grad_req = req};
        const Result whole = RunNet(net, options, false);
        const Result tiled = RunNet(net, options, true);
        EXPECT_THAT(whole.program, Not(HasSubstr("(tiles")));
        EXPECT_THAT(tiled.program, InChain("elemwise_add"));
        EXPECT_EQ(tiled.output, whole.output);
        EXPECT_EQ(tiled.grads, whole.grads);
      }
    }
  }
  SetNumThreads(threads);
}

// Values that only a chain uses have no memory in the plan.
TEST(TilesTest, NoMemoryForWhatStaysInTheChain) {
  const Symbol net = PeepholeStep();
  constexpr int64_t kRows = 5000, kColumns = 64, kTiles = 256 << 10;
  const BindOptions options{.shapes = AllOf(net, {kRows, kColumns}), .grad_req = WriteReq::kNull};
  EXPECT_LE(RunNet(net, options, true).planned_bytes, kRows * kColumns * 4 + kTiles);
  EXPECT_GE(RunNet(net, options, false).planned_bytes, 3 * kRows * kColumns * 4);
}

// The chain has many values that are live together, some until the end of a long chain.
TEST(TilesTest, ManyValuesAtATime) {
  NameManager names;
  const Symbol x = Symbol::Variable("x");
  const auto plus = [](const Symbol& value, int number) {
    return Op("_plus_scalar", {.inputs = {value}, .attrs = {{"scalar", absl::StrCat(number)}}});
  };
  std::vector<Symbol> terms;
  for (int i = 0; i < 12; ++i) terms.push_back(plus(x, i));
  Symbol y = Op("elemwise_mul", {.inputs = {terms[0], terms[1]}});
  for (int i = 0; i < 50; ++i) {
    y = Op("elemwise_mul", {.inputs = {Op("tanh", {.inputs = {y}}), Op("sin", {.inputs = {y}})}});
  }
  terms.push_back(y);
  const Symbol net = Op("add_n", {.inputs = terms});
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kNull}) {
    const BindOptions options{.shapes = AllOf(net, {70, 1000}), .grad_req = req};
    const Result whole = RunNet(net, options, false);
    const Result tiled = RunNet(net, options, true);
    EXPECT_THAT(tiled.program, HasSubstr("(tiles 0)"));
    EXPECT_EQ(tiled.output, whole.output);
    EXPECT_EQ(tiled.grads, whole.grads);
    EXPECT_LE(tiled.planned_bytes, whole.planned_bytes);
  }
}

// Only one of the two gradients of `where` is requested: the other has no memory.
TEST(TilesTest, OutputsThatNobodyWants) {
  NameManager names;
  const Symbol x = Symbol::Variable("x"), y = Symbol::Variable("y");
  const Symbol condition = Op("BlockGrad", {.inputs = {Op("_greater", {.inputs = {x, y}})}});
  const Symbol net = Op("tanh", {.inputs = {Op("where", {.inputs = {condition, x, y}})}});
  const BindOptions options{.shapes = AllOf(net, {70, 100}), .grad_reqs = {{"y", WriteReq::kNull}}};
  const Result whole = RunNet(net, options, false);
  const Result tiled = RunNet(net, options, true);
  EXPECT_THAT(tiled.program, InChain("_backward_where", 1));
  EXPECT_EQ(tiled.output, whole.output);
  EXPECT_EQ(tiled.grads, whole.grads);
}

// Arrays of other sizes and products end a chain. A single operator is no chain.
TEST(TilesTest, OnlyElementwiseOperatorsOnEqualSizesMakeAChain) {
  NameManager names;
  const Symbol x = Symbol::Variable("x");
  const Symbol row = Op("tanh", {.inputs = {Symbol::Variable("row")}});
  const Symbol one = Op("broadcast_mul", {.inputs = {Op("relu", {.inputs = {x}}), row}});
  const Symbol net = Op(
      "sigmoid", {.inputs = {Op("FullyConnected",
                                {.name = "fc", .inputs = {one}, .attrs = {{"num_hidden", "5"}}})}});
  const BindOptions options{.shapes = {{"x", PartialShape({4, 3})}, {"row", PartialShape({1, 3})}},
                            .grad_req = WriteReq::kNull};
  EXPECT_THAT(RunNet(net, options, true).program, Not(HasSubstr("(tiles")));
}

// Views do not end a chain. Values of several dtypes have elements of different sizes.
TEST(TilesTest, ViewsAndDtypes) {
  NameManager names;
  const Symbol x = Symbol::Variable("x");
  const Symbol wide =
      Op("Cast", {.inputs = {Op("square", {.inputs = {x}})}, .attrs = {{"dtype", "float64"}}});
  const Symbol flat =
      Op("Reshape", {.inputs = {Op("exp", {.inputs = {wide}})}, .attrs = {{"shape", "(-1,)"}}});
  const Symbol net =
      Op("Cast", {.inputs = {Op("negative", {.inputs = {flat}})}, .attrs = {{"dtype", "float32"}}});
  const BindOptions options{.shapes = {{"x", PartialShape({50, 99})}}};
  const Result whole = RunNet(net, options, false);
  const Result tiled = RunNet(net, options, true);
  EXPECT_THAT(tiled.program, InChain("Cast"));
  EXPECT_THAT(tiled.program, HasSubstr("(view) Reshape"));
  EXPECT_EQ(tiled.output, whole.output);
  EXPECT_EQ(tiled.grads, whole.grads);
}

// The output has wider elements than the products that the first step of the chain reads. If it
// took their memory, its first tile would overwrite their second one.
TEST(TilesTest, WhatTheFirstStepReadsLastsToTheEndOfTheChain) {
  NameManager names;
  const Symbol x = Symbol::Variable("x");
  const auto product = [&](const char* name) {
    return Op("FullyConnected",
              {.name = name, .inputs = {x}, .attrs = {{"num_hidden", "128"}, {"no_bias", "True"}}});
  };
  const Symbol net = Op(
      "sin", {.inputs = {Op(
                  "Cast", {.inputs = {Op("elemwise_add", {.inputs = {product("a"), product("b")}})},
                           .attrs = {{"dtype", "float64"}}})}});
  const Symbol narrow =
      Op("Cast", {.inputs = {Op("BlockGrad", {.inputs = {net}})}, .attrs = {{"dtype", "float32"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({narrow, net}));
  const BindOptions options{.shapes = {{"x", PartialShape({128, 16})}},
                            .grad_req = WriteReq::kNull};
  const Result whole = RunNet(both, options, false);
  const Result tiled = RunNet(both, options, true);
  EXPECT_THAT(tiled.program, InChain("sin"));
  EXPECT_EQ(tiled.output, whole.output);
}

TEST(TilesTest, AMonitorSeesEveryNodeOfAChain) {
  const Symbol net = PeepholeStep();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = AllOf(net, {2, 3})}));
  COOPER_ASSERT_OK(executor->Forward(false));
  const std::vector<float> before = Floats((*executor->outputs())[0]);
  std::vector<std::string> seen;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray&) { seen.push_back(name); });
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"sigmoid0_output", "tanh0_output"}));
  executor->SetMonitorCallback({});
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(Floats((*executor->outputs())[0]), before);
}

}  // namespace
}  // namespace cooper
