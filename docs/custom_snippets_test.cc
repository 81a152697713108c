// The lines of docs/custom.md.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/custom_op.h"

namespace cooper {
namespace {

float ScaleOf(const AttrMap& attrs) {
  float k = 1;
  const auto given = attrs.find("k");
  return given != attrs.end() && absl::SimpleAtof(given->second, &k) ? k : 1;
}

// k x^2 for float32.
absl::Status Square(const CustomForward& c) {
  const float k = ScaleOf(c.attrs);
  const float* x = c.arguments[0].as<float>();
  float* y = c.outputs[0].as<float>();
  for (int64_t i = 0; i < c.outputs[0].size(); ++i) y[i] = k * x[i] * x[i];
  return absl::OkStatus();
}

absl::Status SquareBackward(const CustomBackward& c) {
  const float k = ScaleOf(c.attrs);
  const float *head = c.head_gradients[0].as<float>(), *x = c.arguments[0].as<float>();
  float* gradient = c.gradients[0].as<float>();
  for (int64_t i = 0; i < c.gradients[0].size(); ++i) gradient[i] = 2 * k * x[i] * head[i];
  return absl::OkStatus();
}

absl::Status RegisterScaledSquare() {
  return RegisterCustomOp("scaled_square", {.forward = Square, .backward = SquareBackward});
}

TEST(CustomPageTest, RegistersAndRuns) {
  COOPER_ASSERT_OK(RegisterScaledSquare());
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol y,
      Symbol::Create("Custom", {.name = "square",
                                .inputs = {Symbol::Variable("x")},
                                .attrs = {{"op_type", "scaled_square"}, {"k", "3"}}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(y, {.shapes = {{"x", {2}}}}));
  COOPER_ASSERT_OK(executor->arg("x").Fill(2));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  NDArray heads = *NDArray::Empty(Shape({2}));
  COOPER_ASSERT_OK(heads.Fill(5));
  COOPER_ASSERT_OK(executor->Backward({heads}));
  EXPECT_EQ((*executor->grad("x").Data<float>())[1], 2 * 3 * 2 * 5);
}

}  // namespace
}  // namespace cooper
