// Tests that a product has the same workspace when it is launched and in a graph. cuBLAS chooses an
// algorithm by the workspace's size.

#include <cstddef>
#include <memory>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/blas/cublas.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ProductWorkspaceTest, IsThatOfTheQueueWithAndWithoutGraphs) {
  const Symbol product =
      Op("FullyConnected", {.inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(product, {.context = Context::Gpu(0), .shapes = {{"data", {2, 4}}}}));
  for (const bool graphs : {false, true}) {
    SetDeviceGraphs(graphs);
    for (int step = 0; step < 3; ++step) {
      COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
    }
  }
  EXPECT_EQ(executor->num_recorded(), 1);
  // There are three launches without graphs. With graphs the first run is that of the previous
  // step, so it is recorded at once.
  EXPECT_THAT(cuda_emulator::GetProductsByWorkspace(), ElementsAre(Pair(size_t{32} << 20, 4)));
}

}  // namespace
}  // namespace cooper
