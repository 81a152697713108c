// Tests that a Predictor on gpu(0) has the outputs of one on the CPU, with inputs and parameters on
// either device.

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/predictor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

NDArray Normals(const Shape& shape, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& value : values) value = static_cast<float>(random.NextNormal());
  return *NDArray::FromVector<float>(shape, values);
}

Symbol Dense(const Symbol& x, const char* name, const char* num_hidden) {
  return Op("FullyConnected", {.name = name, .inputs = {x}, .attrs = {{"num_hidden", num_hidden}}});
}

// Returns a network whose BatchNorm the GPU folds into the preceding weight. The CPU does not,
// because this test does not link the kernel for that.
Symbol Network() {
  const Symbol norm = Op("BatchNorm", {.name = "bn",
                                       .inputs = {Dense(Symbol::Variable("data"), "fc1", "5")},
                                       .attrs = {{"fix_gamma", "False"}}});
  const Symbol hidden = Op("Activation", {.inputs = {norm}, .attrs = {{"act_type", "tanh"}}});
  return Dense(hidden, "fc2", "3");
}

TEST(PredictOnGpuTest, GivesTheCpusOutputs) {
  COOPER_REQUIRE_GPU();
  ArrayMap params = {{"fc1_weight", Normals({5, 4}, 1)}, {"fc1_bias", Normals({5}, 2)},
                     {"bn_gamma", Normals({5}, 5)},      {"bn_beta", Normals({5}, 6)},
                     {"fc2_weight", Normals({3, 5}, 3)}, {"fc2_bias", Normals({3}, 4)}};
  const NDArray variances = *NDArray::Empty({5});
  COOPER_ASSERT_OK(variances.Fill(1.5));
  const ArrayMap auxs = {{"bn_moving_mean", Normals({5}, 7)}, {"bn_moving_var", variances}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto on_cpu, Predictor::Create(Network(), params, auxs));
  params["fc2_weight"] = *params["fc2_weight"].CopyTo(Context::Gpu(0));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto on_gpu, Predictor::Create(Network(), params, auxs, {.context = Context::Gpu(0)}));
  for (const int64_t rows : {3, 1, 5, 3}) {
    const NDArray data = Normals({rows, 4}, 10 + static_cast<uint64_t>(rows));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, on_cpu->Predict({{"data", data}}));
    for (const Context context : {Context::Cpu(), Context::Gpu(0)}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray there, data.CopyTo(context));
      COOPER_ASSERT_OK_AND_ASSIGN(const auto got, on_gpu->Predict({{"data", there}}));
      EXPECT_EQ(got[0].context(), Context::Gpu(0));
      EXPECT_THAT(*got[0].ToVector<float>(), Pointwise(FloatNear(1e-5F), Floats(expected[0])));
    }
  }
}

}  // namespace
}  // namespace cooper
