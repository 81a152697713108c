#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Symbol> HalfCube() {
  return Symbol::Create("scaled_cube",
                        {.inputs = {Symbol::Variable("x")}, .attrs = {{"scale", "0.5"}}});
}

TEST(ScaledCubeTest, OutputAndGradient) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol cube, HalfCube());
  const std::vector<float> x = {-2, 0, 4};
  const std::vector<float> ones = {1, 1, 1};
  for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto executor, Executor::SimpleBind(
                           cube, {.grad_req = req, .args = {{"x", *NDArray::FromVector({3}, x)}}}));
    COOPER_ASSERT_OK(executor->grad("x").Fill(1));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    COOPER_ASSERT_OK(executor->Backward({*NDArray::FromVector({3}, ones)}));
    EXPECT_THAT(*(*executor->outputs())[0].ToVector<float>(), ElementsAre(-4, 0, 32));
    const float before = req == WriteReq::kAdd ? 1 : 0;
    EXPECT_THAT(*executor->grad("x").ToVector<float>(),
                ElementsAre(before + 6, before, before + 24));
  }
}

TEST(ScaledCubeTest, NamesAWrongParameter) {
  EXPECT_THAT(
      Symbol::Create("scaled_cube",
                     {.name = "c", .inputs = {Symbol::Variable("x")}, .attrs = {{"scale", "-1"}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("scale")));
}

}  // namespace
}  // namespace cooper
