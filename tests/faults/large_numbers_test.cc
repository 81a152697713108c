// Tests operators on numbers at the limits of their types, or whose squares, products or sums are,
// and on arrays without elements, where an implementation can run into undefined behaviour of C++.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "tests/operators/run_operator.h"

namespace cooper {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

struct IntegerCase {
  const char* name;
  const char* op;
  AttrMap attrs;
  std::vector<int64_t> values;  // of each input, a vector
  int num_inputs;
  std::vector<int64_t> expected;
};

TEST(LargeNumbersTest, IntegersWrapAround) {
  const IntegerCase cases[] = {
      {"Sum", "sum", {}, {kMax, 2}, 1, {kMin + 1}},
      {"Product", "prod", {}, {kMax, 2}, 1, {-2}},
      {"Norm", "norm", {{"ord", "1"}}, {kMin}, 1, {kMin}},
      {"CumulativeSum", "cumsum", {}, {kMax, 1, 5}, 1, {kMax, kMin, kMin + 5}},
      {"AddN", "add_n", {{"num_args", "3"}}, {kMax, 1}, 3, {kMax - 2, 3}},
      {"Abs", "abs", {}, {kMin, -7}, 1, {kMin, 7}},
      {"Negative", "negative", {}, {kMin}, 1, {kMin}},
      {"Ravel", "ravel_multi_index", {{"shape", "(-1, 3)"}}, {kMax, 1}, 1, {kMax - 1}},
      {"Eye",
       "_eye",
       {{"N", "2"}, {"k", "9223372036854775807"}, {"dtype", "int64"}},
       {},
       0,
       {0, 0, 0, 0}},
  };
  for (const IntegerCase& c : cases) {
    SCOPED_TRACE(c.name);
    BindOptions options{.grad_req = WriteReq::kNull};
    std::vector<Symbol> inputs;
    for (int i = 0; i < c.num_inputs; ++i) {
      const std::string name = "input" + std::to_string(i);
      const auto count = static_cast<int64_t>(c.values.size());
      const bool is_ravel = c.name == std::string("Ravel");
      inputs.push_back(Symbol::Variable(name));
      COOPER_ASSERT_OK_AND_ASSIGN(
          options.args[name],
          NDArray::FromVector<int64_t>(is_ravel ? Shape({count, 1}) : Shape({count}), c.values));
    }
    const auto symbol = Symbol::Create(c.op, {.inputs = inputs, .attrs = c.attrs});
    ASSERT_THAT(symbol, IsOk());
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(*symbol, options));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto result, (*executor->outputs())[0].ToVector<int64_t>());
    EXPECT_EQ(result, c.expected);
  }
}

TEST(LargeNumbersTest, MatricesWithoutElementsHaveGradients) {
  for (const char* op : {"linalg_potrf", "linalg_potri", "linalg_sumlogdiag"}) {
    SCOPED_TRACE(op);
    const auto symbol = Symbol::Create(op, {.inputs = {Symbol::Variable("A")}});
    ASSERT_THAT(symbol, IsOk());
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                                Executor::SimpleBind(*symbol, {.shapes = {{"A", {2, 0, 0}}}}));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    std::vector<NDArray> heads;
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, executor->outputs());
    for (const NDArray& output : outputs) heads.push_back(*output.Copy());
    COOPER_EXPECT_OK(executor->Backward(heads));
  }
}

TEST(LargeNumbersTest, NothingIsTiledAsOftenAsOneLikes) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OperatorRun nothing,
      RunOperator("tile", {{"reps", "(1000000000, 1000000000)"}}, {*NDArray::Empty({5, 3, 0})}));
  EXPECT_TRUE(nothing.outputs[0].empty());
  EXPECT_TRUE(nothing.grads[0].empty());
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OperatorRun never,
      RunOperator("tile", {{"reps", "(0, 1000000000)"}}, {*NDArray::Full({2, 1}, 1)}));
  EXPECT_TRUE(never.outputs[0].empty());
  EXPECT_EQ(never.grads[0], std::vector<float>({0, 0}));
}

// The output has the rows of the data and equals the bias, although the data has no features.
TEST(LargeNumbersTest, FullyConnectedWithoutFeatures) {
  const auto symbol =
      Symbol::Create("FullyConnected", {.name = "fc",
                                        .inputs = {Symbol::Variable("data")},
                                        .attrs = {{"num_hidden", "3"}, {"flatten", "False"}}});
  ASSERT_THAT(symbol, IsOk());
  for (const Shape& data : {Shape({2, 4, 0}), Shape({5, 0, 0})}) {
    SCOPED_TRACE(data);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                                Executor::SimpleBind(*symbol, {.shapes = {{"data", data}}}));
    COOPER_ASSERT_OK(executor->arg("fc_bias").Fill(7));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    const NDArray output = (*executor->outputs())[0];
    EXPECT_THAT(*output.ToVector<float>(), testing::Each(7));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray head, output.Copy());
    COOPER_ASSERT_OK(executor->Backward({head}));
    EXPECT_THAT(*executor->grad("fc_bias").ToVector<float>(),
                testing::Each(static_cast<float>(7 * data[0] * data[1])));
  }
}

// Only the first input determines the array that it scatters into.
TEST(LargeNumbersTest, ScatterChecksItsCoordinates) {
  const auto symbol = Symbol::Create(
      "_scatter_set_nd",
      {.inputs = {Symbol::Variable("lhs"), Symbol::Variable("rhs"), Symbol::Variable("indices")},
       .attrs = {{"shape", "()"}}});
  ASSERT_THAT(symbol, IsOk());
  EXPECT_THAT(
      Executor::SimpleBind(*symbol, {.shapes = {{"lhs", {4}}, {"rhs", {3}}, {"indices", {2, 3}}},
                                     .grad_req = WriteReq::kNull}),
      StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("2 coordinates")));
}

// Each attribute of a file is either rejected or has the result of a smaller one.
TEST(LargeNumbersTest, AttributesMayBeAnything) {
  const std::string most = std::to_string(kMax), least = std::to_string(kMin);
  const auto bind = [](const char* op, const AttrMap& attrs, const Shape& data) -> absl::Status {
    const auto symbol = Symbol::Create(op, {.inputs = {Symbol::Variable("data")}, .attrs = attrs});
    if (!symbol.ok()) return symbol.status();
    const auto executor =
        Executor::SimpleBind(*symbol, {.shapes = {{"data", data}}, .grad_req = WriteReq::kNull});
    return executor.ok() ? (*executor)->Forward(/*is_train=*/false) : executor.status();
  };
  for (const std::string& step : {most, least}) {
    COOPER_EXPECT_OK(bind(
        "slice", {{"begin", "(None,)"}, {"end", "(None,)"}, {"step", "(" + step + ",)"}}, {3, 4}));
  }
  EXPECT_FALSE(bind("diag", {{"k", most}}, {3}).ok());
  EXPECT_FALSE(bind("diag", {{"k", least}}, {3, 4}).ok());
  EXPECT_FALSE(
      bind("RNN", {{"mode", "lstm"}, {"num_layers", "9"}, {"state_size", "2147483647"}}, {2, 3, 4})
          .ok());
  EXPECT_FALSE(
      bind("RNN", {{"mode", "gru"}, {"num_layers", most}, {"state_size", "4"}}, {2, 3, 4}).ok());
}

// The determinant 1e-64 is below float32; its logarithm is not.
TEST(LargeNumbersTest, ASmallDeterminantHasALogarithm) {
  constexpr int64_t kRows = 64;
  std::vector<float> data(kRows * kRows, 0), expected(kRows * kRows, 0);
  for (int64_t i = 0; i < kRows; ++i) {
    data[i * kRows + i] = 0.1F;
    expected[i * kRows + i] = 1 / 0.1F;
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray a, NDArray::FromVector<float>({kRows, kRows}, data));
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun run, RunOperator("linalg_slogdet", {}, {a}));
  EXPECT_THAT(run.grads[0], testing::Pointwise(testing::FloatEq(), expected));
}

// Each of the padded images would have 2^61 elements.
TEST(LargeNumbersTest, CorrelationRefusesPaddingThatNoMemoryHolds) {
  const auto symbol = Symbol::Create(
      "Correlation",
      {.inputs = {Symbol::Variable("a"), Symbol::Variable("b")},
       .attrs = {
           {"pad_size", "1048575"}, {"max_displacement", "1048575"}, {"stride2", "1048576"}}});
  ASSERT_THAT(symbol, IsOk());
  EXPECT_THAT(
      Executor::SimpleBind(*symbol, {.shapes = {{"a", {1, 524288, 2, 2}}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("too many elements")));
}

// The squares of these numbers exceed float32.
TEST(LargeNumbersTest, NormsOfNumbersWhoseSquaresAreNone) {
  for (const float scale : {1e30F, 1e-30F}) {
    SCOPED_TRACE(scale);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray x,
                                NDArray::FromVector<float>({2, 2}, {3 * scale, 4 * scale, 0, 0}));
    COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun run, RunOperator("norm", {{"axis", "1"}}, {x}));
    EXPECT_THAT(run.outputs[0], testing::ElementsAre(testing::FloatEq(5 * scale), 0));
    EXPECT_THAT(run.grads[0],
                testing::ElementsAre(testing::FloatEq(0.6F), testing::FloatEq(0.8F), 0, 0));
  }
}

// In float16 a sum of ones stays at 2048.
TEST(LargeNumbersTest, GradientsOfPreluAreSummedInFloat) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray x, NDArray::Full({1, 4096}, -1, DType::kFloat16));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray gamma, NDArray::Full({1}, 0.5, DType::kFloat16));
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun run,
                              RunOperator("LeakyReLU", {{"act_type", "prelu"}}, {x, gamma}));
  EXPECT_THAT(run.grads[1], testing::ElementsAre(-4096));
}

// With p_value 1 the pooling is a sum, whose gradient does not depend on the elements.
TEST(LargeNumbersTest, LpPoolingOfWindowsThatSumToZero) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray x,
                              NDArray::FromVector<float>({1, 1, 4}, {1, -1, 0, 0}));
  AttrMap attrs = {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pool_type", "lp"}, {"p_value", "1"}};
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun sums, RunOperator("Pooling", attrs, {x}));
  EXPECT_THAT(sums.outputs[0], testing::ElementsAre(0, 0));
  EXPECT_THAT(sums.grads[0], testing::Each(1));
  attrs["p_value"] = "2";
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun norms, RunOperator("Pooling", attrs, {x}));
  EXPECT_THAT(norms.grads[0][2], 0);
}

// As in BLAS, C is not read if beta is 0.
TEST(LargeNumbersTest, GemmWithoutBetaDoesNotReadC) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray ones, NDArray::Full({2, 2}, 1));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray nan, NDArray::Full({2, 2}, std::nan("")));
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun run,
                              RunOperator("linalg_gemm", {{"beta", "0"}}, {ones, ones, nan}));
  EXPECT_THAT(run.outputs[0], testing::Each(2));
}

}  // namespace
}  // namespace cooper
