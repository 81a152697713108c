// Tests IdentityAttachKLSparseReg with batches without rows.

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(KlSparseRegTest, AnEmptyBatchLeavesTheAverageAlone) {
  const Symbol net =
      Op("IdentityAttachKLSparseReg", {.name = "reg", .inputs = {Symbol::Variable("data")}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {0, 3}}}}));
  COOPER_ASSERT_OK(executor->aux("reg_moving_avg").Fill(0.5));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  COOPER_ASSERT_OK(executor->Backward(RandomArrays(executor->output_shapes(), 1)));
  EXPECT_THAT(Floats(executor->aux("reg_moving_avg")), testing::Each(0.5F));
}

}  // namespace
}  // namespace cooper
