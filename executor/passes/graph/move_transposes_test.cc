// Checks that networks bound with and without the pass compute the same, and have the expected
// copies.

#include "executor/passes/graph/move_transposes.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Symbol Transpose(const Symbol& x, const std::string& axes, const std::string& name) {
  return Op("transpose", {.name = name, .inputs = {x}, .attrs = {{"axes", axes}}});
}
Symbol Swap(const Symbol& x, int dim1, int dim2, const std::string& name) {
  return Op("SwapAxis", {.name = name,
                         .inputs = {x},
                         .attrs = {{"dim1", absl::StrCat(dim1)}, {"dim2", absl::StrCat(dim2)}}});
}
Symbol Embedding() {
  return Op("Embedding", {.name = "embed",
                          .inputs = {Symbol::Variable("index"), Symbol::Variable("weight")},
                          .attrs = {{"input_dim", "7"}, {"output_dim", "5"}}});
}
// An operator whose gradients differ by position.
Symbol Tanh(const Symbol& x) { return Op("tanh", {.name = "result", .inputs = {x}}); }

// Returns the names of the nodes with these operators, except gradients.
std::vector<std::string> Nodes(const Executor& executor, const std::vector<std::string>& ops) {
  std::vector<std::string> nodes;
  for (const absl::string_view line : absl::StrSplit(executor.DebugString(), '\n')) {
    if (absl::StrContains(line, "_backward")) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, '\'');
    if (parts.size() < 2 || !absl::c_linear_search(ops, absl::StripSuffix(parts[0], " "))) continue;
    nodes.push_back(parts[1]);
  }
  return nodes;
}

// Returns the names of the nodes that copy into another order.
std::vector<std::string> Copies(const Executor& executor) {
  return Nodes(executor, {"transpose", "SwapAxis"});
}

// Compares outputs and gradients with and without the pass; returns the copies that remain with it.
std::vector<std::string> CopiesLeft(const Symbol& net, const KnownShapes& shapes) {
  std::vector<std::vector<std::vector<float>>> results;
  std::vector<std::string> copies;
  for (const bool move : {true, false}) {
    BindOptions options{.shapes = shapes};
    if (shapes.contains("index")) options.grad_reqs = {{"index", WriteReq::kNull}};
    if (!move) options.disabled_passes = {"transposes"};
    auto bound = Executor::SimpleBind(net, options);
    EXPECT_TRUE(bound.ok()) << bound.status();
    Executor& executor = **bound;
    if (move) copies = Copies(executor);
    uint64_t seed = 1;
    for (const auto& [name, array] : executor.arg_dict()) {
      FillRandom(array, seed++);
      if (name != "index") continue;
      RandomGenerator random(3);
      const absl::Span<float> indices = *array.Data<float>();
      for (float& index : indices) index = static_cast<float>(random.NextBelow(7));
    }
    COOPER_EXPECT_OK(executor.Forward(true));
    std::vector<NDArray> heads;
    for (const Shape& shape : executor.output_shapes()) {
      heads.push_back(*NDArray::Empty(shape));
      FillRandom(heads.back(), 50 + heads.size());
    }
    COOPER_EXPECT_OK(executor.Backward(heads));
    std::vector<std::vector<float>>& result = results.emplace_back();
    const absl::Span<const NDArray> outputs = *executor.outputs();
    for (const NDArray& output : outputs) result.push_back(Floats(output));
    for (const auto& [name, array] : executor.grad_dict()) result.push_back(Floats(array));
  }
  EXPECT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    // Rows of an embedding's gradient are added in another order.
    EXPECT_THAT(results[0][i], Pointwise(FloatNear(1e-5), results[1][i])) << i;
  }
  return copies;
}

TEST(MoveTransposesTest, IndicesMoveInsteadOfVectors) {
  const KnownShapes two = {{"index", {3, 4}}}, three = {{"index", {3, 4, 2}}};
  EXPECT_THAT(CopiesLeft(Tanh(Swap(Embedding(), 0, 1, "swap")), two),
              UnorderedElementsAre("embed_indices"));
  EXPECT_THAT(CopiesLeft(Tanh(Transpose(Embedding(), "(1, 0, 2)", "t")), two),
              UnorderedElementsAre("embed_indices"));
  // A permutation that is not its own inverse.
  EXPECT_THAT(CopiesLeft(Tanh(Transpose(Embedding(), "(2, 0, 1, -1)", "t")), three),
              UnorderedElementsAre("embed_indices"));
  EXPECT_THAT(CopiesLeft(Tanh(Swap(Embedding(), -2, 0, "swap")), three),
              UnorderedElementsAre("embed_indices"));
}

TEST(MoveTransposesTest, WhatIsUndoneIsNotDone) {
  const KnownShapes shapes = {{"data", {2, 3, 4}}};
  const Symbol data = Symbol::Variable("data");
  EXPECT_THAT(CopiesLeft(Tanh(Swap(Swap(data, 0, 1, "a"), 1, 0, "b")), shapes), IsEmpty());
  EXPECT_THAT(
      CopiesLeft(Tanh(Transpose(Transpose(data, "(1, 2, 0)", "a"), "(2, 0, 1)", "b")), shapes),
      IsEmpty());
  EXPECT_THAT(CopiesLeft(Tanh(Transpose(Swap(data, 1, 2, "a"), "(0, 2, 1)", "b")), shapes),
              IsEmpty());
  // The first one has other users.
  const Symbol a = Swap(data, 0, 1, "a");
  EXPECT_THAT(CopiesLeft(*Symbol::Group({Tanh(Swap(a, 0, 1, "b")), a}), shapes),
              UnorderedElementsAre("a"));
  // Four, which cancel in pairs.
  const Symbol c = Swap(Swap(Swap(Swap(data, 0, 1, "a"), 0, 1, "b"), 0, 2, "c"), 0, 2, "d");
  EXPECT_THAT(CopiesLeft(Tanh(c), shapes), IsEmpty());
}

Symbol Product(const char* op, const Symbol& lhs, const Symbol& rhs,
               const std::string& transposed) {
  return Tanh(Op(op, {.name = "product",
                      .inputs = {lhs, rhs},
                      .attrs = {{"transpose_a", transposed == "a" ? "True" : "False"},
                                {"transpose_b", transposed == "b" ? "True" : "False"}}}));
}

TEST(MoveTransposesTest, ProductsTransposeThemselves) {
  const Symbol a = Symbol::Variable("a"), b = Symbol::Variable("b");
  const Symbol at = Transpose(a, "()", "at"), bt = Swap(b, 0, 1, "bt");
  const KnownShapes two = {{"a", {4, 3}}, {"b", {5, 4}}};
  EXPECT_THAT(CopiesLeft(Product("dot", at, bt, ""), two), IsEmpty());
  EXPECT_THAT(CopiesLeft(Product("dot", bt, a, "a"), {{"a", {5, 3}}, {"b", {4, 5}}}),
              UnorderedElementsAre())
      << "twice transposed is not at all";
  EXPECT_THAT(CopiesLeft(Product("dot", b, at, "b"), {{"a", {4, 3}}, {"b", {5, 4}}}), IsEmpty());

  const Symbol as = Swap(a, 1, 2, "as"), bs = Transpose(b, "(0, 2, 1)", "bs");
  EXPECT_THAT(CopiesLeft(Product("batch_dot", as, bs, ""), {{"a", {2, 4, 3}}, {"b", {2, 5, 4}}}),
              IsEmpty());
  EXPECT_THAT(CopiesLeft(Product("batch_dot", a, bs, "b"), {{"a", {2, 3, 4}}, {"b", {2, 4, 5}}}),
              IsEmpty());
  EXPECT_THAT(CopiesLeft(Product("batch_dot", Transpose(a, "(0, 1, 3, 2)", "t"), b, ""),
                         {{"a", {2, 3, 4, 5}}, {"b", {2, 3, 4, 2}}}),
              IsEmpty());
  // The product of one array with itself, and one with a factor that has other users.
  EXPECT_THAT(CopiesLeft(Product("dot", at, a, ""), {{"a", {4, 3}}}), IsEmpty());
  EXPECT_THAT(CopiesLeft(*Symbol::Group({Product("dot", at, bt, ""), at}), two),
              UnorderedElementsAre("at"));
  // For a transposed transposition the product uses the original array.
  EXPECT_THAT(
      CopiesLeft(Product("dot", Transpose(at, "()", "att"), b, ""), {{"a", {4, 3}}, {"b", {3, 2}}}),
      IsEmpty());
}

TEST(MoveTransposesTest, ProductsOfOtherOrders) {
  const Symbol a = Symbol::Variable("a"), b = Symbol::Variable("b");
  EXPECT_THAT(CopiesLeft(Product("batch_dot", Swap(a, 0, 1, "as"), b, ""),
                         {{"a", {4, 2, 3}}, {"b", {2, 3, 5}}}),
              UnorderedElementsAre("as"))
      << "the matrices change places";
  EXPECT_THAT(CopiesLeft(Product("batch_dot", Transpose(a, "(1, 0, 3, 2)", "at"), b, ""),
                         {{"a", {3, 2, 4, 5}}, {"b", {2, 3, 4, 2}}}),
              UnorderedElementsAre("at"))
      << "matrices are transposed and change places";
  EXPECT_THAT(
      CopiesLeft(Product("dot", Swap(a, 1, 2, "as"), b, ""), {{"a", {2, 3, 4}}, {"b", {3, 5}}}),
      UnorderedElementsAre("as"))
      << "dot takes the first axis of more than two to the end";
}

TEST(MoveTransposesTest, ProductsOfLinalg) {
  const Symbol a = Symbol::Variable("a"), b = Symbol::Variable("b");
  const Symbol as = Swap(a, 1, 2, "as"), bs = Swap(b, 2, 1, "bs");
  const KnownShapes shapes = {{"a", {2, 4, 3}}, {"b", {2, 5, 4}}};
  EXPECT_THAT(CopiesLeft(Product("linalg_gemm2", as, bs, ""), shapes), IsEmpty());
  EXPECT_THAT(CopiesLeft(Product("linalg_gemm2", as, b, "b"), shapes), IsEmpty());
  const Symbol sum =
      Op("linalg_gemm", {.name = "sum",
                         .inputs = {as, bs, Symbol::Variable("c")},
                         .attrs = {{"axis", "-2"}, {"alpha", "0.5"}, {"beta", "-2"}}});
  EXPECT_THAT(CopiesLeft(Tanh(sum), shapes), IsEmpty());
  EXPECT_THAT(CopiesLeft(Tanh(Swap(sum, 1, 2, "st")), shapes), UnorderedElementsAre("st"))
      << "what is added would have to be transposed";
  const Symbol same_axis =
      Op("linalg_gemm2", {.name = "product", .inputs = {as, bs}, .attrs = {{"axis", "1"}}});
  EXPECT_THAT(CopiesLeft(Tanh(same_axis), shapes), IsEmpty());
  const auto rows_first = [&b](const Symbol& x) {
    return Tanh(
        Op("linalg_gemm2", {.name = "product", .inputs = {x, b}, .attrs = {{"axis", "0"}}}));
  };
  EXPECT_THAT(CopiesLeft(rows_first(Swap(a, 0, 2, "as")), {{"a", {4, 2, 3}}, {"b", {4, 2, 5}}}),
              UnorderedElementsAre("as"))
      << "rows and columns, which are no longer the last two axes";
  EXPECT_THAT(CopiesLeft(rows_first(Swap(a, 1, 2, "as")), {{"a", {4, 4, 2}}, {"b", {4, 2, 5}}}),
              UnorderedElementsAre("as"))
      << "the last two axes, which are no longer rows and columns";
}

TEST(MoveTransposesTest, ProductsTransposeTheirResult) {
  const Symbol a = Symbol::Variable("a"), b = Symbol::Variable("b");
  const KnownShapes two = {{"a", {3, 4}}, {"b", {4, 5}}},
                    three = {{"a", {2, 3, 4}}, {"b", {2, 4, 5}}};
  const auto product = [&](const char* op, const Symbol& x, const Symbol& y) {
    return Op(op, {.name = "product", .inputs = {x, y}});
  };
  EXPECT_THAT(CopiesLeft(Tanh(Transpose(product("dot", a, b), "()", "t")), two), IsEmpty());
  for (const char* op : {"batch_dot", "linalg_gemm2"}) {
    EXPECT_THAT(CopiesLeft(Tanh(Swap(product(op, a, b), 1, 2, "t")), three), IsEmpty());
    // Both factors and the result are transposed.
    EXPECT_THAT(
        CopiesLeft(Tanh(Swap(product(op, Swap(a, 1, 2, "as"), Swap(b, 1, 2, "bs")), 2, 1, "t")),
                   {{"a", {2, 4, 3}}, {"b", {2, 5, 4}}}),
        IsEmpty());
    EXPECT_THAT(CopiesLeft(Tanh(Swap(product(op, a, b), 0, 1, "t")), three),
                UnorderedElementsAre("t"))
        << "the matrices change places";
  }
  // A product of an array with itself.
  EXPECT_THAT(CopiesLeft(Tanh(Transpose(product("dot", a, a), "()", "t")), {{"a", {3, 3}}}),
              IsEmpty());
  // The product has other users.
  const Symbol shared = product("dot", a, b);
  EXPECT_THAT(CopiesLeft(*Symbol::Group({Tanh(Transpose(shared, "()", "t")), shared}), two),
              UnorderedElementsAre("t"));
  EXPECT_THAT(CopiesLeft(*Symbol::Group({Tanh(Transpose(shared, "()", "t")), Tanh(shared)}), two),
              UnorderedElementsAre("t"));
  EXPECT_THAT(CopiesLeft(Transpose(shared, "()", "t"), two), UnorderedElementsAre("t"))
      << "an output";
  EXPECT_THAT(
      CopiesLeft(Tanh(Transpose(product("dot", a, b), "()", "t")), {{"a", {3, 2, 4}}, {"b", {4}}}),
      UnorderedElementsAre("t"))
      << "a product of matrices and a vector";
}

TEST(MoveTransposesTest, EitherFactorOfATransposedResultMayBeTransposed) {
  const Symbol a = Symbol::Variable("a"), b = Symbol::Variable("b");
  for (const std::string op : {"dot", "batch_dot", "linalg_gemm2"}) {
    const std::vector<int64_t> batch =
        op == "dot" ? std::vector<int64_t>{} : std::vector<int64_t>{2};
    const auto matrices = [&batch](int64_t rows, int64_t columns) {
      std::vector<int64_t> shape = batch;
      shape.insert(shape.end(), {rows, columns});
      return Shape(shape);
    };
    for (const bool first : {true, false}) {
      AttrMap attrs = {{first ? "transpose_a" : "transpose_b", "True"}};
      if (op == "linalg_gemm2") attrs["alpha"] = "0.5";
      const Symbol product = Op(op.c_str(), {.name = "product", .inputs = {a, b}, .attrs = attrs});
      const KnownShapes shapes = {{"a", first ? matrices(4, 3) : matrices(3, 4)},
                                  {"b", first ? matrices(4, 5) : matrices(5, 4)}};
      EXPECT_THAT(CopiesLeft(Tanh(Swap(product, -2, -1, "t")), shapes), IsEmpty()) << op << first;
    }
  }
}

// A value that is used transposed and transposed back is not computed twice.
TEST(MoveTransposesTest, NothingIsComputedTwice) {
  const auto both = [](const Symbol& x) {
    const Symbol t = Swap(x, 0, 1, "t");
    return *Symbol::Group({Tanh(t), Tanh(Swap(t, 0, 1, "tt"))});
  };
  const Symbol product =
      Op("dot", {.name = "product", .inputs = {Symbol::Variable("a"), Symbol::Variable("b")}});
  const KnownShapes two = {{"a", {3, 4}}, {"b", {4, 5}}}, index = {{"index", {3, 4}}};
  for (const auto& [net, shapes] :
       {std::pair(both(product), two), std::pair(both(Embedding()), index)}) {
    EXPECT_THAT(CopiesLeft(net, shapes), UnorderedElementsAre("t"));
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto executor,
        Executor::SimpleBind(net, {.shapes = shapes, .grad_req = WriteReq::kNull}));
    EXPECT_THAT(Nodes(*executor, {"dot", "Embedding"}), SizeIs(1));
  }
}

TEST(MoveTransposesTest, OthersStay) {
  const KnownShapes shapes = {{"data", {2, 3, 4}}};
  const Symbol data = Symbol::Variable("data");
  EXPECT_THAT(
      CopiesLeft(Tanh(Transpose(Transpose(data, "(1, 2, 0)", "a"), "(1, 2, 0)", "b")), shapes),
      UnorderedElementsAre("a", "b"))
      << "not the inverse";
  EXPECT_THAT(CopiesLeft(Swap(Swap(data, 0, 1, "a"), 0, 1, "b"), shapes),
              UnorderedElementsAre("a", "b"))
      << "an output";
  const KnownShapes index = {{"index", {3, 4}}};
  EXPECT_THAT(CopiesLeft(Tanh(Swap(Embedding(), 1, 2, "swap")), index),
              UnorderedElementsAre("swap"))
      << "the vectors' axis moves";
  const Symbol embedding = Embedding();
  EXPECT_THAT(CopiesLeft(*Symbol::Group({Tanh(Swap(embedding, 0, 1, "swap")), embedding}), index),
              UnorderedElementsAre("swap"))
      << "others use the vectors";
  EXPECT_THAT(CopiesLeft(Tanh(Transpose(Embedding(), "(0,)", "t")), {{"index", Shape()}}),
              testing::IsEmpty())
      << "one vector, which is not moved";
}

}  // namespace
}  // namespace cooper
