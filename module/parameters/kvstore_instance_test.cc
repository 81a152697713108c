// Tests InitOptimizerOptions::kvstore_instance: one store for several trainings, one after the
// other or at the same time.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/kvstore.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

using Weights = std::vector<std::vector<float>>;

std::shared_ptr<KVStore> Store(const char* type = "local") { return *CreateKVStore(type); }

// Returns a module on two contexts, with parameters of that seed; the layer is `name`.
std::unique_ptr<Module> Make(uint64_t seed, const std::string& name = "fc",
                             const Kwargs& compression = {}) {
  const Symbol fc =
      Op("FullyConnected",
         {.name = name, .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  auto module = *Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}}),
                                {.compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)},
                                             .compression_params = compression}});
  COOPER_EXPECT_OK(
      module->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}, .layout = "NC"}},
                    .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}}));
  COOPER_EXPECT_OK(module->InitParams({.initializer = init::Uniform(0.5), .seed = seed}));
  return module;
}

InitOptimizerOptions Optimizer(std::shared_ptr<KVStore> store, bool update_on_kvstore,
                               const char* learning_rate = "0.1") {
  return {.kvstore_instance = std::move(store),
          .update_on_kvstore = update_on_kvstore,
          .optimizer_params = {{"learning_rate", learning_rate}, {"momentum", "0.9"}},
          .force_init = true};
}

// Returns all parameters after each of three steps.
Weights Train(BaseModule& module) {
  Weights weights;
  for (uint64_t step = 0; step < 3; ++step) {
    COOPER_EXPECT_OK(module.ForwardBackward(
        {.data = {RandomArray({4, 6}, step)}, .label = {Classes(4, 3, step)}}));
    COOPER_EXPECT_OK(module.Update());
    const ModuleParams params = *module.GetParams();
    for (const auto& [name, array] : params.args) weights.push_back(Floats(array));
  }
  return weights;
}

Weights TrainWith(BaseModule& module, const InitOptimizerOptions& options) {
  COOPER_EXPECT_OK(module.InitOptimizer(options));
  return Train(module);
}

TEST(KVStoreInstanceTest, AModuleMayTakeItsStoreAgain) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      SCOPED_TRACE(testing::Message() << first << second);
      const auto store = Store();
      auto module = Make(1), alone = Make(1);
      EXPECT_EQ(TrainWith(*module, Optimizer(store, first)),
                TrainWith(*alone, Optimizer(Store(), first)));
      EXPECT_EQ(TrainWith(*module, Optimizer(store, second)),
                TrainWith(*alone, Optimizer(Store(), second)));
    }
  }
}

TEST(KVStoreInstanceTest, AStoreOfAModuleThatIsGoneBeginsAnew) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      SCOPED_TRACE(testing::Message() << first << second);
      const auto store = Store();
      TrainWith(*Make(1), Optimizer(store, first));
      EXPECT_EQ(TrainWith(*Make(2), Optimizer(store, second)),
                TrainWith(*Make(2), Optimizer(Store(), second)));
    }
  }
}

TEST(KVStoreInstanceTest, AModuleThatHasLeftAStoreLeavesItToOthers) {
  const auto store = Store();
  auto first = Make(1), second = Make(2);
  TrainWith(*first, Optimizer(store, true));
  TrainWith(*first, Optimizer(Store(), true));
  EXPECT_EQ(TrainWith(*second, Optimizer(store, true)),
            TrainWith(*Make(2), Optimizer(Store(), true)));
}

TEST(KVStoreInstanceTest, ParametersOfAnotherModuleAreRefused) {
  const auto store = Store("device");
  auto first = Make(1), second = Make(2, "fc", {{"type", "2bit"}, {"threshold", "0.5"}});
  TrainWith(*first, Optimizer(store, true));
  EXPECT_THAT(
      second->InitOptimizer(Optimizer(store, true)),
      StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'fc_bias' is that of another module")));
  EXPECT_FALSE(second->optimizer_initialized());
  auto alone = Make(1);
  TrainWith(*alone, Optimizer(Store(), true));
  EXPECT_EQ(Train(*first), Train(*alone)) << "as if nothing had been asked for";
}

TEST(KVStoreInstanceTest, AValueThatTheStoreWasGivenGivesWayToTheModules) {
  const auto store = Store();
  COOPER_ASSERT_OK(store->Init("fc_weight", *NDArray::Full({3, 6}, 7)));
  COOPER_ASSERT_OK(store->Init("other", *NDArray::Full({1}, 7)));
  EXPECT_EQ(TrainWith(*Make(1), Optimizer(store, true)),
            TrainWith(*Make(1), Optimizer(Store(), true)));
  EXPECT_TRUE(store->contains("other")) << "which is no module's";
}

TEST(KVStoreInstanceTest, ModulesOfOneStoreHaveTheirOwnOptimizers) {
  for (const bool on_kvstore : {false, true}) {
    SCOPED_TRACE(on_kvstore);
    const auto store = Store();
    auto first = Make(1, "fc1"), second = Make(2, "fc2");
    COOPER_ASSERT_OK(first->InitOptimizer(Optimizer(store, true, "0.1")));
    COOPER_ASSERT_OK(second->InitOptimizer(Optimizer(store, on_kvstore, "0.5")));
    EXPECT_EQ(Train(*first), TrainWith(*Make(1, "fc1"), Optimizer(Store(), true, "0.1")));
    EXPECT_EQ(Train(*second), TrainWith(*Make(2, "fc2"), Optimizer(Store(), on_kvstore, "0.5")));
  }
}

TEST(KVStoreInstanceTest, TheModulesOfASequenceShareOne) {
  const auto train = [](const InitOptimizerOptions& options) {
    const Symbol fc = Op("FullyConnected", {.name = "first",
                                            .inputs = {Symbol::Variable("data", {.attrs = {}})},
                                            .attrs = {{"num_hidden", "6"}, {"__lr_mult__", "3"}}});
    auto head = *Module::Create(
        fc, {.label_names = {}, .compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)}}});
    SequentialModule chain;
    COOPER_EXPECT_OK(chain.Add(std::move(head), {}));
    COOPER_EXPECT_OK(chain.Add(Make(1), {.take_labels = true, .auto_wiring = true}));
    COOPER_EXPECT_OK(
        chain.Bind({.data_shapes = {{.name = "data", .shape = {4, 6}, .layout = "NC"}},
                    .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}}));
    COOPER_EXPECT_OK(
        chain.InitParams({.initializer = init::Uniform(0.5), .seed = 1, .force_init = true}));
    TrainWith(chain, options);
    return TrainWith(chain, options);
  };
  InitOptimizerOptions own = Optimizer(nullptr, true);
  EXPECT_EQ(train(Optimizer(Store(), true)), train(own));
}

}  // namespace
}  // namespace cooper
