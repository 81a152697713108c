// What InitOptimizer makes of its options: the learning rate and the scale of gradients.

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/lr_scheduler/step_schedulers.h"
#include "module/module.h"
#include "module/module_fixtures.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

// Bound to 4 rows, with parameters.
std::unique_ptr<Module> MakeModule() {
  auto module = *Module::Create(TwoLayers());
  COOPER_EXPECT_OK(module->Bind(Shapes(4)));
  COOPER_EXPECT_OK(module->InitParams());
  return module;
}

Optimizer& OptimizerOf(const BaseModule& module) { return module.group()->updater()->optimizer(); }

double RateOf(const InitOptimizerOptions& options) {
  const auto module = MakeModule();
  COOPER_EXPECT_OK(module->InitOptimizer(options));
  return OptimizerOf(*module).learning_rate();
}

TEST(InitOptimizerTest, TheScheduleKeepsItsRateUnlessOneIsGiven) {
  const auto schedule = [] {
    return std::shared_ptr<LRScheduler>(
        *FactorScheduler::Create({.common = {.base_lr = 0.5}, .step = 10}));
  };
  EXPECT_EQ(RateOf({}), 0.01);
  EXPECT_EQ(RateOf({.lr_scheduler = schedule()}), 0.5);
  EXPECT_EQ(RateOf({.optimizer_params = {{"momentum", "0.9"}}, .lr_scheduler = schedule()}), 0.5);
  EXPECT_EQ(RateOf({.optimizer_params = {{"learning_rate", "0.2"}}, .lr_scheduler = schedule()}),
            0.2);
}

}  // namespace
}  // namespace cooper
