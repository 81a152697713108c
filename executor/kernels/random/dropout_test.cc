// Tests properties of Dropout that golden cases cannot show, because it is random.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

constexpr int64_t kRows = 50;
constexpr int64_t kColumns = 400;

// Binds Dropout of an array of ones, so that the output is the scaled mask.
std::unique_ptr<Executor> Bind(const AttrMap& attrs) {
  auto symbol = Symbol::Create(
      "Dropout", {.name = "op", .inputs = {Symbol::Variable("data")}, .attrs = attrs});
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  auto executor = Executor::SimpleBind(*symbol, {.shapes = {{"data", {kRows, kColumns}}}});
  EXPECT_TRUE(executor.ok()) << executor.status();
  COOPER_EXPECT_OK((*executor)->arg("data").Fill(1));
  return *std::move(executor);
}

std::vector<float> Output(const Executor& executor) {
  auto outputs = executor.outputs();
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  const absl::Span<float> values = *(*outputs)[0].Data<float>();
  return {values.begin(), values.end()};
}

TEST(DropoutTest, KeepsTheMean) {
  for (double p : {0.1, 0.5, 0.9}) {
    auto executor = Bind({{"p", std::to_string(p)}});
    COOPER_ASSERT_OK(executor->Forward(true));
    int64_t dropped = 0;
    for (float y : Output(*executor)) {
      if (y == 0) {
        ++dropped;
      } else {
        EXPECT_FLOAT_EQ(y, static_cast<float>(1 / (1 - p)));
      }
    }
    const double n = kRows * kColumns;
    EXPECT_NEAR(dropped, n * p, 5 * std::sqrt(n * p * (1 - p))) << p;
  }
}

TEST(DropoutTest, GradientHasTheSameMask) {
  auto executor = Bind({{"p", "0.3"}});
  COOPER_ASSERT_OK(executor->Forward(true));
  NDArray head = *NDArray::Empty({kRows, kColumns}, DType::kFloat32);
  COOPER_ASSERT_OK(head.Fill(1));
  COOPER_ASSERT_OK(executor->Backward({head}));
  const absl::Span<float> grad = *executor->grad("data").Data<float>();
  EXPECT_EQ(Output(*executor), std::vector<float>(grad.begin(), grad.end()));
}

TEST(DropoutTest, RunsDiffer) {
  auto executor = Bind({{"p", "0.5"}});
  COOPER_ASSERT_OK(executor->Forward(true));
  const std::vector<float> first = Output(*executor);
  COOPER_ASSERT_OK(executor->Forward(true));
  EXPECT_NE(first, Output(*executor));
}

TEST(DropoutTest, PredictionDropsInModeAlways) {
  auto training = Bind({{"p", "0.5"}});
  COOPER_ASSERT_OK(training->Forward(false));
  for (float y : Output(*training)) EXPECT_EQ(y, 1.0f);
  auto always = Bind({{"p", "0.5"}, {"mode", "always"}});
  COOPER_ASSERT_OK(always->Forward(false));
  for (float y : Output(*always)) EXPECT_NE(y, 1.0f);
}

TEST(DropoutTest, AxesShareTheMask) {
  auto executor = Bind({{"p", "0.5"}, {"axes", "(0,)"}});
  COOPER_ASSERT_OK(executor->Forward(true));
  const std::vector<float> out = Output(*executor);
  for (int64_t i = kColumns; i < kRows * kColumns; ++i) EXPECT_EQ(out[i], out[i % kColumns]);
}

TEST(DropoutTest, DropsEverything) {
  auto executor = Bind({{"p", "1"}});
  COOPER_ASSERT_OK(executor->Forward(true));
  for (float y : Output(*executor)) EXPECT_EQ(y, 0.0f);
}

}  // namespace
}  // namespace cooper
