// Tests values at corner cases of MXNet's operators: ties, bounds between integers, NaN, a label
// that is the blank. The expected numbers are those of MXNet 1.9.1 (corner_values.py).

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "tests/operators/run_operator.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

NDArray Array(const Shape& shape, const std::vector<float>& values, DType dtype = DType::kFloat32) {
  return *NDArray::FromVector(shape, values)->AsType(dtype);
}

TEST(CornerValuesTest, AbsoluteErrorOfATieHasTheGradientOfTooSmallAGuess) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OperatorRun run,
      RunOperator("MAERegressionOutput", {}, {Array({1, 3}, {0, 1, 2}), Array({1, 3}, {0, 2, 1})}));
  EXPECT_THAT(run.grads[0], Pointwise(FloatNear(1e-6F), {-1 / 3.0F, -1 / 3.0F, 1 / 3.0F}));
}

TEST(CornerValuesTest, BoundsOfClippedIntegersMayBeOutsideOrBetween) {
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun outside,
                              RunOperator("clip", {{"a_min", "-1"}, {"a_max", "1.5"}},
                                          {Array({3}, {0, 1, 2}, DType::kUint8)}));
  EXPECT_THAT(outside.outputs[0], ElementsAre(0, 1, 1));
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun between,
                              RunOperator("clip", {{"a_min", "0.5"}, {"a_max", "1.5"}},
                                          {Array({3}, {0, 1, 2}, DType::kInt32)}));
  EXPECT_THAT(between.outputs[0], ElementsAre(0, 1, 1));
  EXPECT_THAT(between.grads[0], ElementsAre(0, 1, 0));
  for (const auto& [low, high] : {std::pair("300", "400"), std::pair("-4", "-1")}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun none,
                                RunOperator("clip", {{"a_min", low}, {"a_max", high}},
                                            {Array({2}, {0, 255}, DType::kUint8)}));
    EXPECT_THAT(none.grads[0], ElementsAre(0, 0)) << "no byte is between them";
  }
}

// The power of ten is infinite in the dtype. MXNet gives infinity for 1.5 and 40 decimals.
TEST(CornerValuesTest, AroundLeavesNumbersWithoutTheDigitsAsTheyAre) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OperatorRun behind,
      RunOperator("_npi_around", {{"decimals", "5"}}, {Array({3}, {0, 1.5, -2}, DType::kFloat16)}));
  EXPECT_THAT(behind.outputs[0], ElementsAre(0, 1.5, -2));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OperatorRun before,
      RunOperator("_npi_around", {{"decimals", "-40"}}, {Array({2}, {3e38F, -7})}));
  EXPECT_THAT(before.outputs[0], ElementsAre(0, 0));
}

// MXNet converts these to int64 and float64.
TEST(CornerValuesTest, ScalarsAreRefusedWhereTheResultIsNotOfTheirArraysDType) {
  for (const char* op : {"_mul_scalar", "_equal_scalar", "_logical_xor_scalar", "_power_scalar"}) {
    SCOPED_TRACE(op);
    const auto of_bool = RunOperator(op, {{"scalar", "2"}}, {Array({2}, {0, 1}, DType::kBool)});
    EXPECT_THAT(of_bool.status().message(), HasSubstr("'data' is bool, expected numbers"));
    const auto of_fraction = RunOperator(op, {{"scalar", "0.5"}, {"is_int", "False"}},
                                         {Array({2}, {0, 1}, DType::kInt32)});
    EXPECT_THAT(of_fraction.status().message(), HasSubstr("'data' is int32 and is_int False"));
    COOPER_EXPECT_OK(
        RunOperator(op, {{"scalar", "2"}}, {Array({2}, {0, 1}, DType::kInt32)}).status());
    COOPER_EXPECT_OK(
        RunOperator(op, {{"scalar", "0.5"}, {"is_int", "False"}}, {Array({2}, {0, 1})}).status());
  }
}

TEST(CornerValuesTest, RangesOfIntegersHaveIntegralSteps) {
  const auto values = [](const AttrMap& attrs) -> absl::StatusOr<std::vector<float>> {
    COOPER_ASSIGN_OR_RETURN(const Symbol range, Symbol::Create("_arange", {.attrs = attrs}));
    COOPER_ASSIGN_OR_RETURN(const auto executor,
                            Executor::SimpleBind(range, {.grad_req = WriteReq::kNull}));
    COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/false));
    COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
    COOPER_ASSIGN_OR_RETURN(const NDArray floats, outputs[0].AsType(DType::kFloat32));
    return floats.ToVector<float>();
  };
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto half,
      values({{"start", "0"}, {"stop", "3"}, {"step", "0.5"}, {"dtype", "int32"}}));
  EXPECT_THAT(half, ElementsAre(0, 0, 0, 0, 0, 0));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto more,
      values({{"start", "0.5"}, {"stop", "6"}, {"step", "1.5"}, {"dtype", "int64"}}));
  EXPECT_THAT(more, ElementsAre(0, 1, 2, 3));
}

TEST(CornerValuesTest, RangesOfInt64AreExactWhereDoublesAreNot) {
  const auto range = Symbol::Create("_arange", {.attrs = {{"start", "9007199254740992"},
                                                          {"stop", "9007199254740996"},
                                                          {"step", "1"},
                                                          {"dtype", "int64"}}});
  COOPER_ASSERT_OK(range.status());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(*range, {.grad_req = WriteReq::kNull}));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto values, (*executor->outputs())[0].ToVector<int64_t>());
  const int64_t first = int64_t{1} << 53;
  EXPECT_THAT(values, ElementsAre(first, first + 1, first + 2, first + 3));
}

// MXNet rejects such a backward pass too.
TEST(CornerValuesTest, GradientsOfTopKGoWhereItsIndicesCanSay) {
  const auto run = [](int64_t count, const char* dtype) {
    std::vector<float> data(static_cast<size_t>(count));
    data.back() = 1;
    return RunOperator("topk", {{"k", "1"}, {"ret_typ", "both"}, {"dtype", dtype}},
                       {Array({count}, data)});
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun last, run(256, "uint8"));
  EXPECT_EQ(last.grads[0].back(), 1);
  COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun half, run(2048, "float16"));
  EXPECT_EQ(half.grads[0].back(), 1);
  for (const auto& [count, dtype] : {std::pair(257, "uint8"), std::pair(129, "int8"),
                                     std::pair(2049, "float16"), std::pair(257, "bfloat16")}) {
    const auto refused = run(count, dtype);
    EXPECT_THAT(refused.status().message(), HasSubstr("expected one that has all"));
  }
}

TEST(CornerValuesTest, FtrlKeepsNaN) {
  BindOptions options{.grad_req = WriteReq::kNull};
  options.args = {{"weight", Array({2}, {1, 2})}, {"grad", Array({2}, {std::nanf(""), 1})}};
  options.auxs = {{"z", Array({2}, {0, 0})}, {"n", Array({2}, {0, 0})}};
  const auto update = Symbol::Create(
      "ftrl_update", {.inputs = {Symbol::Variable("weight"), Symbol::Variable("grad"),
                                 Symbol::Variable("z"), Symbol::Variable("n")},
                      .attrs = {{"lr", "0.1"}}});
  COOPER_ASSERT_OK(update.status());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(*update, options));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto weight, (*executor->outputs())[0].ToVector<float>());
  EXPECT_TRUE(std::isnan(weight[0]));
  EXPECT_FLOAT_EQ(weight[1], 0.9495F);
}

TEST(CornerValuesTest, TheBlankMayBeALabel) {
  const std::vector<float> data = {.1F, .2F, .3F, .4F, .4F, .1F, .2F, .3F,
                                   .3F, .3F, .1F, .2F, .2F, .5F, .1F, .1F};
  BindOptions options;
  options.args = {{"data", Array({4, 1, 4}, data)},
                  {"label", Array({1, 2}, {3, 0})},
                  {"lengths", Array({1}, {2})}};
  options.grad_reqs = {{"label", WriteReq::kNull}, {"lengths", WriteReq::kNull}};
  const auto loss = Symbol::Create(
      "CTCLoss",
      {.inputs = {Symbol::Variable("data"), Symbol::Variable("label"), Symbol::Variable("lengths")},
       .attrs = {{"use_label_lengths", "True"}}});
  COOPER_ASSERT_OK(loss.status());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(*loss, options));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto value, (*executor->outputs())[0].ToVector<float>());
  EXPECT_NEAR(value[0], 3.7045152F, 1e-5F);
  COOPER_ASSERT_OK(executor->Backward({Array({1}, {1})}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto grad, executor->grad("data").ToVector<float>());
  // Gradients with respect to the logits of a step sum to 0. MXNet's do not, since it counts the
  // blank's states twice here.
  for (int t = 0; t < 4; ++t) {
    EXPECT_NEAR(grad[4 * t] + grad[4 * t + 1] + grad[4 * t + 2] + grad[4 * t + 3], 0, 1e-5F) << t;
  }
}

TEST(CornerValuesTest, ARangeWithAStopNeedsNoInference) {
  const auto range = Symbol::Create(
      "_arange",
      {.attrs = {{"start", "0"}, {"stop", "10"}, {"step", "2"}, {"infer_range", "True"}}});
  COOPER_ASSERT_OK(range.status());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(*range, {.grad_req = WriteReq::kNull}));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto values, (*executor->outputs())[0].ToVector<float>());
  EXPECT_THAT(values, ElementsAre(0, 2, 4, 6, 8));
}

TEST(CornerValuesTest, ATupleMayBeNone) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OperatorRun run,
      RunOperator("slice", {{"begin", "(0,)"}, {"end", "(2,)"}, {"step", "None"}},
                  {Array({3}, {1, 2, 3})}));
  EXPECT_THAT(run.outputs[0], ElementsAre(1, 2));
}

// The backward pass of BatchNorm updates them, although no gradient arrives; also with blocks of
// channels, if images are converted to them.
TEST(CornerValuesTest, AveragesOfImagesAreUpdatedBelowBlockGrad) {
  const auto conv = Symbol::Create(
      "Convolution", {.name = "conv",
                      .inputs = {Symbol::Variable("data")},
                      .attrs = {{"kernel", "(3, 3)"}, {"num_filter", "32"}, {"no_bias", "True"}}});
  COOPER_ASSERT_OK(conv.status());
  const auto norm = Symbol::Create("BatchNorm", {.name = "bn", .inputs = {*conv}});
  COOPER_ASSERT_OK(norm.status());
  const auto stopped = Symbol::Create("BlockGrad", {.inputs = {*norm}});
  COOPER_ASSERT_OK(stopped.status());
  BindOptions options;
  options.args["data"] = *NDArray::Full({2, 16, 8, 8}, 1);
  options.args["conv_weight"] = *NDArray::Full({32, 16, 3, 3}, 0.5);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(*stopped, options));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  COOPER_ASSERT_OK(executor->Backward({*NDArray::Full(executor->output_shapes()[0], 1)}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto mean, executor->aux("bn_moving_mean").ToVector<float>());
  // A tenth of the sum of a window.
  EXPECT_THAT(mean, Each(FloatNear(0.1F * 0.5F * 16 * 9, 1e-4F)));
}

TEST(CornerValuesTest, AveragesAreUpdatedBelowBlockGrad) {
  for (const bool is_global : {false, true}) {
    const auto norm = Symbol::Create(
        "BatchNorm", {.name = "bn",
                      .inputs = {Symbol::Variable("data")},
                      .attrs = {{"fix_gamma", "False"},
                                {"momentum", "0.5"},
                                {"use_global_stats", is_global ? "True" : "False"}}});
    COOPER_ASSERT_OK(norm.status());
    const auto stopped = Symbol::Create("BlockGrad", {.inputs = {*norm}});
    COOPER_ASSERT_OK(stopped.status());
    BindOptions options;
    options.args["data"] = Array({4, 2}, {1, 2, 3, 4, 5, 6, 7, 9});
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(*stopped, options));
    COOPER_ASSERT_OK(executor->aux("bn_moving_var").Fill(1));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    COOPER_ASSERT_OK(executor->Backward({*NDArray::Full({4, 2}, 1)}));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto mean, executor->aux("bn_moving_mean").ToVector<float>());
    COOPER_ASSERT_OK_AND_ASSIGN(const auto var, executor->aux("bn_moving_var").ToVector<float>());
    if (is_global) {
      EXPECT_THAT(mean, ElementsAre(0, 0));
      continue;
    }
    EXPECT_THAT(mean, ElementsAre(2, 2.625));
    EXPECT_THAT(var, Pointwise(FloatNear(1e-5F), {3.0F, 3.84375F}));
  }
}

}  // namespace
}  // namespace cooper
