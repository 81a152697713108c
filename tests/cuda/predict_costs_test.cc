// Tests the cost of a request to a Predictor on a GPU after its shapes have occurred twice: one
// graph, copies of inputs and outputs, and one wait for the results.

#include <cmath>
#include <cstdint>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/predictor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "tests/cuda_emulator/runtime/counters.h"

namespace cooper {
namespace {

using ::cooper::cuda_emulator::Costs;
using ::cooper::cuda_emulator::GetCosts;
using ::cooper::cuda_emulator::ResetCosts;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(PredictCostsTest, ARequestIsOneGraphAndCopies) {
  const Symbol hidden =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  const Symbol network = Op("Activation", {.inputs = {hidden}, .attrs = {{"act_type", "tanh"}}});
  const ArrayMap params = {{"fc_weight", *NDArray::Full({5, 4}, 0.5)},
                           {"fc_bias", *NDArray::Full({5}, -1)}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                              Predictor::Create(network, params, {}, {.context = Context::Gpu(0)}));
  for (int i = 0; i < 6; ++i) {
    const int64_t rows = i % 2 == 0 ? 3 : 2;
    const float value = 0.1F * static_cast<float>(i);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray data, NDArray::Full({rows, 4}, value));
    ResetCosts();
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
    const Costs costs = GetCosts();
    EXPECT_THAT(Floats(outputs[0]), Each(FloatNear(std::tanh(2 * value - 1), 1e-5F)));
    if (i < 4) continue;
    EXPECT_THAT(costs.queued, UnorderedElementsAre(Pair("graph", 1), Pair("copy", 2)));
    EXPECT_EQ(costs.num_allocations(), 0);
  }
}

}  // namespace
}  // namespace cooper
