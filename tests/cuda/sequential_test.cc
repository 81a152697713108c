// Tests that a chain of modules on one GPU, each with its own arena, trains as on the CPU. Under
// the emulator, work runs only when something waits for it, so a missing wait changes the results.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

COOPER_EMULATE(LAZY, "1");

std::unique_ptr<Module> ModuleOf(const Symbol& symbol, const char* data, Context context,
                                 bool labels) {
  ModuleOptions options = {.data_names = {data}, .compute = {.contexts = {context}}};
  if (!labels) options.label_names = {};
  return *Module::Create(symbol, std::move(options));
}

// Returns outputs, gradients and parameters after some steps of three layers, each a module of its
// own.
std::vector<std::vector<float>> TrainedInARow(Context context) {
  SequentialModule chain;
  const auto layer = [](const char* name, const char* data, const char* hidden) {
    return Op(
        "FullyConnected",
        {.name = name, .inputs = {Symbol::Variable(data)}, .attrs = {{"num_hidden", hidden}}});
  };
  COOPER_EXPECT_OK(chain.Add(ModuleOf(layer("fc1", "data", "5"), "data", context, false)));
  COOPER_EXPECT_OK(chain.Add(ModuleOf(layer("fc2", "second", "4"), "second", context, false),
                             {.auto_wiring = true}));
  const Symbol loss =
      Op("SoftmaxOutput", {.name = "softmax", .inputs = {layer("fc3", "third", "3")}});
  COOPER_EXPECT_OK(chain.Add(ModuleOf(loss, "third", context, true),
                             {.take_labels = true, .auto_wiring = true}));
  COOPER_EXPECT_OK(
      chain.Bind({.data_shapes = {{.name = "data", .shape = {4, 6}, .layout = "NC"}},
                  .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}},
                  .inputs_need_grad = true}));
  COOPER_EXPECT_OK(chain.InitParams({.initializer = init::Uniform(0.5), .seed = 7}));
  COOPER_EXPECT_OK(chain.InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}}}));
  std::vector<std::vector<float>> results;
  for (uint64_t step = 0; step < 3; ++step) {
    COOPER_EXPECT_OK(chain.ForwardBackward(
        {.data = {RandomArray({4, 6}, step)}, .label = {Classes(4, 3, step)}}));
    results.push_back(*(*chain.GetOutputs())[0].ToVector<float>());
    results.push_back(*(*chain.GetInputGrads())[0].ToVector<float>());
    COOPER_EXPECT_OK(chain.Update());
  }
  const absl::StatusOr<ModuleParams> params = chain.GetParams();
  COOPER_EXPECT_OK(params.status());
  for (const auto& [name, array] : params->args) {
    results.push_back(*array.ToVector<float>());
  }
  return results;
}

TEST(SequentialOnGpuTest, LearnsAsOnTheCpu) {
  COOPER_REQUIRE_GPU();
  const auto expected = TrainedInARow(Context::Cpu()), got = TrainedInARow(Context::Gpu(0));
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_THAT(got[i], Pointwise(FloatNear(1e-5), expected[i])) << i;
  }
}

}  // namespace
}  // namespace cooper
