// Checks that networks bound with and without the pass compute the same, and have the expected
// products.

#include "executor/passes/graph/batch_products.h"

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
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

Symbol Product(const Symbol& data, const Symbol& weight, const Symbol& bias, int hidden) {
  return Op("FullyConnected",
            {.inputs = {data, weight, bias}, .attrs = {{"num_hidden", absl::StrCat(hidden)}}});
}

struct Layer {
  explicit Layer(const std::string& name, int num_hidden)
      : weight(Symbol::Variable(name + "_weight")),
        bias(Symbol::Variable(name + "_bias")),
        hidden(num_hidden) {}
  Symbol operator()(const Symbol& data) const { return Product(data, weight, bias, hidden); }

  Symbol weight, bias;
  int hidden;
};

int CountProducts(const Executor& executor) {
  int count = 0;
  const std::string text = executor.DebugString();
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    count += absl::StartsWith(line, "FullyConnected ") ? 1 : 0;
  }
  return count;
}

std::vector<double> Values(const NDArray& array) {
  return *(*array.AsType(DType::kFloat64)).ToVector<double>();
}

// Compares outputs and gradients of a training step; `products` is the expected number with the
// pass.
void ExpectSame(const Symbol& net, const KnownShapes& shapes, int products,
                WriteReq req = WriteReq::kWrite, DType dtype = DType::kFloat64,
                const std::map<std::string, WriteReq>& reqs = {}) {
  std::vector<std::unique_ptr<Executor>> executors;
  for (const bool batch : {true, false}) {
    BindOptions options{.shapes = shapes, .grad_req = req, .grad_reqs = reqs};
    for (const auto& [name, shape] : shapes) options.types[name] = dtype;
    options.disabled_passes = {"rnn_layers"};
    if (!batch) options.disabled_passes.insert("batched_products");
    auto bound = Executor::SimpleBind(net, options);
    ASSERT_TRUE(bound.ok()) << bound.status();
    executors.push_back(*std::move(bound));
  }
  EXPECT_EQ(CountProducts(*executors[0]), products) << executors[0]->DebugString();
  std::vector<NDArray> heads;
  for (const Shape& shape : executors[0]->output_shapes()) {
    const NDArray head = *NDArray::Empty(shape);
    FillRandom(head, 50 + heads.size());
    heads.push_back(*head.AsType(dtype));
  }
  std::vector<std::vector<std::vector<double>>> results(2);
  for (size_t i = 0; i < 2; ++i) {
    Executor& executor = *executors[i];
    uint64_t seed = 1;
    for (const auto& [name, array] : executor.arg_dict()) {
      const NDArray values = *NDArray::Empty(array.shape());
      FillRandom(values, seed++);
      COOPER_ASSERT_OK(array.CopyFrom(*values.AsType(dtype)));
    }
    for (const auto& [name, array] : executor.grad_dict()) COOPER_ASSERT_OK(array.Fill(0.25));
    COOPER_ASSERT_OK(executor.Forward(true));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, executor.outputs());
    for (const NDArray& output : outputs) results[i].push_back(Values(output));
    COOPER_ASSERT_OK(executor.Backward(heads));
    for (const auto& [name, array] : executor.grad_dict()) results[i].push_back(Values(array));
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  const double tolerance = dtype == DType::kFloat64 ? 1e-12 : 1e-5;
  for (size_t k = 0; k < results[0].size(); ++k) {
    EXPECT_THAT(results[0][k], Pointwise(DoubleNear(tolerance), results[1][k])) << k;
  }
}

// A recurrent cell that no pass recognises: h' = tanh(i2h(x)) * sigmoid(h2h(h)).
Symbol CustomCell(const std::vector<Symbol>& steps, int hidden) {
  const Layer i2h("i2h", hidden), h2h("h2h", hidden);
  Symbol state = Symbol::Variable("state");
  std::vector<Symbol> outputs;
  for (const Symbol& x : steps) {
    state =
        Op("elemwise_mul",
           {.inputs = {Op("tanh", {.inputs = {i2h(x)}}), Op("sigmoid", {.inputs = {h2h(state)}})}});
    outputs.push_back(state);
  }
  return Op("add_n", {.inputs = outputs});
}

std::vector<Symbol> Split(const Symbol& data, int axis, int steps) {
  const Symbol split = Op("SliceChannel", {.inputs = {data},
                                           .attrs = {{"axis", absl::StrCat(axis)},
                                                     {"num_outputs", absl::StrCat(steps)},
                                                     {"squeeze_axis", "True"}}});
  std::vector<Symbol> parts;
  for (const NodeEntry& part : split.outputs()) parts.push_back(Symbol({part}));
  return parts;
}

TEST(BatchProductsTest, InputsOfACustomCell) {
  for (int axis : {0, 1}) {
    for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
      for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
        NameManager names;
        const Symbol net = CustomCell(Split(Symbol::Variable("data"), axis, 6), 5);
        const Shape data = axis == 0 ? Shape({6, 3, 4}) : Shape({3, 6, 4});
        ExpectSame(net, {{"data", PartialShape(data)}, {"state", {3, 5}}}, 1 + 6, req, dtype);
      }
    }
  }
}

// The operands of a step's sum are split from (T, N, C) and (T, C). Before the split, the rows of
// one would be broadcast against the steps of the other, which goes unnoticed if their numbers are
// equal.
TEST(BatchProductsTest, StepsThatBroadcast) {
  for (const int64_t rows : {2, 3}) {
    NameManager names;
    const Layer layer("fc", 5);
    const std::vector<Symbol> x = Split(Symbol::Variable("x"), 0, 3);
    const std::vector<Symbol> position = Split(Symbol::Variable("position"), 0, 3);
    std::vector<Symbol> outputs;
    outputs.reserve(3);
    for (int t = 0; t < 3; ++t) {
      outputs.push_back(layer(Op("broadcast_add", {.inputs = {x[t], position[t]}})));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group(outputs));
    ExpectSame(net, {{"x", {3, rows, 4}}, {"position", {3, 4}}}, 1);
  }
}

TEST(BatchProductsTest, DataOfTheirOwn) {
  NameManager names;
  const Layer layer("fc", 7);
  std::vector<Symbol> towers;
  KnownShapes shapes;
  for (int i = 0; i < 3; ++i) {
    const std::string name = absl::StrCat("x", i);
    towers.push_back(layer(Symbol::Variable(name)));
    shapes[name] = {2, 3};
  }
  // One of the products is an output and has another user.
  towers.push_back(Op("elemwise_mul", {.inputs = {towers[0], towers[1]}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group(towers));
  ExpectSame(net, shapes, 1);
}

TEST(BatchProductsTest, GradientsOfSome) {
  NameManager names;
  const Layer layer("fc", 7);
  const Symbol net =
      Op("elemwise_mul", {.inputs = {layer(Symbol::Variable("x")), layer(Symbol::Variable("y"))}});
  const KnownShapes shapes = {{"x", {2, 3}}, {"y", {2, 3}}};
  for (const char* without : {"x", "y", "fc_weight", "fc_bias"}) {
    SCOPED_TRACE(without);
    ExpectSame(net, shapes, 1, WriteReq::kWrite, DType::kFloat64, {{without, WriteReq::kNull}});
  }
}

// No gradient reaches what is below BlockGrad; zeros instead would be multiplied by infinities.
TEST(BatchProductsTest, NotOfWhatGradientsReachAndOthers) {
  NameManager names;
  const Layer layer("fc", 5);
  const Symbol x = Symbol::Variable("x"), y = Symbol::Variable("y");
  const Symbol blocked = Op("BlockGrad", {.inputs = {layer(y)}});
  ExpectSame(*Symbol::Group({layer(x), blocked}), {{"x", {2, 3}}, {"y", {2, 3}}}, 2);
  const Symbol also = Op("BlockGrad", {.inputs = {layer(x)}});
  ExpectSame(*Symbol::Group({also, blocked}), {{"x", {2, 3}}, {"y", {2, 3}}}, 1);
  ExpectSame(*Symbol::Group({layer(x), layer(y), blocked}), {{"x", {2, 3}}, {"y", {2, 3}}}, 2);
}

// The data of both products are sums with a deeply shared structure.
TEST(BatchProductsTest, DeepData) {
  NameManager names;
  const Layer layer("fc", 5);
  const Symbol other = Symbol::Variable("other");
  std::vector<Symbol> data = {Symbol::Variable("x"), Symbol::Variable("y")};
  for (int level = 0; level < 20'000; ++level) {
    for (Symbol& x : data) x = Op("elemwise_add", {.inputs = {x, other}});
  }
  ExpectSame(*Symbol::Group({layer(data[0]), layer(data[1])}),
             {{"x", {2, 3}}, {"y", {2, 3}}, {"other", {2, 3}}}, 1);
}

TEST(BatchProductsTest, WithoutABias) {
  NameManager names;
  const Symbol weight = Symbol::Variable("weight");
  const auto product = [&](const char* data) {
    return Op("FullyConnected", {.inputs = {Symbol::Variable(data), weight},
                                 .attrs = {{"num_hidden", "5"}, {"no_bias", "True"}}});
  };
  const Symbol net = Op("elemwise_mul", {.inputs = {product("x"), product("y")}});
  ExpectSame(net, {{"x", {2, 3}}, {"y", {2, 3}}}, 1);
}

TEST(BatchProductsTest, AChainIsNone) {
  NameManager names;
  const Layer layer("fc", 4);
  Symbol x = Symbol::Variable("x");
  for (int i = 0; i < 4; ++i) x = Op("tanh", {.inputs = {layer(x)}});
  ExpectSame(x, {{"x", {2, 4}}}, 4);
}

// The data of each merged batch would depend on the other batch.
TEST(BatchProductsTest, OfBatchesThatWaitForEachOtherOneIsGivenUp) {
  NameManager names;
  const Layer a("a", 4), b("b", 4);
  const Symbol x = Symbol::Variable("x"), y = Symbol::Variable("y");
  const Symbol net = Op("elemwise_add", {.inputs = {b(a(x)), a(b(y))}});
  ExpectSame(net, {{"x", {2, 4}}, {"y", {2, 4}}}, 3);
}

TEST(BatchProductsTest, WhatIsLeftAlone) {
  NameManager names;
  const Symbol x = Symbol::Variable("x"), y = Symbol::Variable("y");
  const auto sum = [](const Symbol& a, const Symbol& b) {
    return Op("elemwise_add", {.inputs = {a, b}});
  };
  const Layer layer("fc", 4);
  {
    SCOPED_TRACE("many rows");
    ExpectSame(sum(layer(x), layer(y)), {{"x", {256, 3}}, {"y", {256, 3}}}, 2);
    ExpectSame(sum(layer(x), layer(y)), {{"x", {255, 3}}, {"y", {255, 3}}}, 1);
  }
  {
    SCOPED_TRACE("biases of their own");
    const Symbol other = Product(y, layer.weight, Symbol::Variable("other_bias"), 4);
    ExpectSame(sum(layer(x), other), {{"x", {2, 3}}, {"y", {2, 3}}}, 2);
  }
  {
    SCOPED_TRACE("data of other shapes");
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group({layer(x), layer(y)}));
    ExpectSame(net, {{"x", {2, 3}}, {"y", {3, 3}}}, 2);
  }
}

// Another pass handles classifiers of single steps.
TEST(BatchProductsTest, ClassifiersStayTogetherWithTheirLoss) {
  NameManager names;
  const Layer layer("fc", 4);
  std::vector<Symbol> losses;
  for (const char* name : {"x", "y"}) {
    losses.push_back(
        Op("SoftmaxOutput", {.inputs = {layer(Symbol::Variable(name)),
                                        Symbol::Variable(absl::StrCat(name, "_label"))}}));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group(losses));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor, Executor::SimpleBind(net, {.shapes = {{"x", {2, 3}}, {"y", {2, 3}}}}));
  const std::string text = executor->DebugString();
  EXPECT_THAT(text, ::testing::HasSubstr("_fc_softmax_output"));
  EXPECT_EQ(CountProducts(*executor), 0) << text;
}

}  // namespace
}  // namespace cooper
