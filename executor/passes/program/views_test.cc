// Tests operators that keep the bytes of their input: which become views, and that results and
// gradients have the same bits.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

Symbol Tanh(const Symbol& x) { return Op("tanh", {.inputs = {x}}); }

// Returns `op` between two tanh, so that neither its input nor its output is an array of the
// caller.
Symbol Between(const char* op, const AttrMap& attrs) {
  return Tanh(
      Op(op, {.name = "between", .inputs = {Tanh(Symbol::Variable("data"))}, .attrs = attrs}));
}

// Binds with the pass and without it, compares all bits, and returns whether `between` is a view
// with it.
bool IsView(const Symbol& symbol, const Shape& shape, DType dtype = DType::kFloat32) {
  std::vector<std::vector<std::vector<float>>> results;
  bool is_view = false;
  for (const bool views : {true, false}) {
    BindOptions options{.shapes = {{"data", shape}}, .types = {{"data", dtype}}};
    // These passes remove unused values before there is a program.
    options.disabled_passes = {"transposes", "tiles"};
    if (!views) options.disabled_passes.insert("views");
    auto bound = Executor::SimpleBind(symbol, options);
    EXPECT_TRUE(bound.ok()) << bound.status();
    Executor& executor = **bound;
    COOPER_EXPECT_OK(executor.arg("data").CopyFrom(RandomArrays({shape}, 1)[0]));
    COOPER_EXPECT_OK(executor.Forward(true));
    const absl::Span<const NDArray> outputs = *executor.outputs();
    std::vector<NDArray> heads = RandomArrays(executor.output_shapes(), 100);
    for (size_t i = 0; i < heads.size(); ++i) {
      heads[i] = *heads[i].AsType(outputs[i].dtype());
    }
    COOPER_EXPECT_OK(executor.Backward(heads));
    std::vector<std::vector<float>>& result = results.emplace_back();
    for (const NDArray& output : outputs) {
      result.push_back(Floats(*output.AsType(DType::kFloat32)));
    }
    result.push_back(Floats(*executor.grad("data").AsType(DType::kFloat32)));
    if (!views) continue;
    const std::string text = executor.DebugString();
    for (const char* op : {"transpose", "SwapAxis", "Cast", "amp_cast", "Reshape"}) {
      is_view = is_view || absl::StrContains(text, absl::StrCat("(view) ", op, " 'between'"));
    }
    if (absl::StrContains(text, "_backward_cast")) {
      EXPECT_EQ(absl::StrContains(text, "(view) _backward_cast"), is_view);
    }
  }
  EXPECT_EQ(results[0], results[1]);
  return is_view;
}

TEST(ViewsTest, ReshapeIsOne) {
  EXPECT_TRUE(IsView(Between("Reshape", {{"shape", "(-1, 2)"}}), {3, 4, 2}));
}

TEST(ViewsTest, TransposesThatMoveNoElements) {
  const auto transpose = [](const char* axes) { return Between("transpose", {{"axes", axes}}); };
  EXPECT_TRUE(IsView(transpose("(1, 0, 2)"), {1, 5, 3}));
  EXPECT_TRUE(IsView(transpose("(1, 0, 2)"), {5, 1, 3}));
  EXPECT_TRUE(IsView(transpose("(2, 1, 0)"), {1, 7, 1}));
  EXPECT_FALSE(IsView(transpose("(3, 1, 0, 2)"), {2, 3, 4, 1}));
  EXPECT_TRUE(IsView(transpose("(3, 0, 1, 2)"), {2, 3, 4, 1}));
  EXPECT_FALSE(IsView(transpose("(1, 0, 2)"), {2, 5, 3}));
  EXPECT_FALSE(IsView(transpose("(0, 2, 1)"), {1, 5, 3}));

  const Symbol swap = Between("SwapAxis", {{"dim1", "0"}, {"dim2", "2"}});
  EXPECT_TRUE(IsView(swap, {1, 1, 6}));
  EXPECT_FALSE(IsView(swap, {1, 2, 6}));
}

TEST(ViewsTest, CastsToTheSameType) {
  for (const char* op : {"Cast", "amp_cast"}) {
    EXPECT_TRUE(IsView(Between(op, {{"dtype", "float32"}}), {3, 4})) << op;
    EXPECT_FALSE(IsView(Between(op, {{"dtype", "float16"}}), {3, 4})) << op;
    EXPECT_FALSE(IsView(Between(op, {{"dtype", "float32"}}), {3, 4}, DType::kFloat16)) << op;
  }
}

// BatchNorm with fix_gamma writes 1 to gamma.
TEST(ViewsTest, NotOfAnArgumentThatAnOperatorWrites) {
  for (const bool fixed : {true, false}) {
    const Symbol gamma = Symbol::Variable("gamma");
    const Symbol norm = Op("BatchNorm", {.inputs = {Symbol::Variable("data"), gamma},
                                         .attrs = {{"fix_gamma", fixed ? "True" : "False"}}});
    const Symbol row =
        Op("Reshape", {.name = "row", .inputs = {gamma}, .attrs = {{"shape", "(1, -1)"}}});
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto executor,
        Executor::SimpleBind(*Symbol::Group({norm, Tanh(row)}), {.shapes = {{"data", {4, 3}}}}));
    EXPECT_EQ(absl::StrContains(executor->DebugString(), "(view) Reshape 'row'"), !fixed)
        << executor->DebugString();
  }
}

// Tests a gamma that is computed: BatchNorm with fix_gamma writes it, so it is no view.
TEST(ViewsTest, NotOfAValueThatAnOperatorWrites) {
  for (const bool fixed : {true, false}) {
    const Symbol gamma = Op("sigmoid", {.inputs = {Symbol::Variable("data")}});
    const Symbol row =
        Op("Reshape", {.name = "between", .inputs = {gamma}, .attrs = {{"shape", "(1, -1)"}}});
    const Symbol norm = Op("BatchNorm", {.inputs = {Tanh(row), gamma},
                                         .attrs = {{"fix_gamma", fixed ? "True" : "False"}}});
    EXPECT_EQ(IsView(Op("broadcast_mul", {.inputs = {row, norm}}), {3}), !fixed);
  }
}

}  // namespace
}  // namespace cooper
