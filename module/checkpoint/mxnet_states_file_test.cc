#include "module/checkpoint/mxnet_states_file.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/network/module.h"
#include "module/optimizer/sgd.h"
#include "module/pickle/mxnet_states.h"
#include "module/sequential_module.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::unique_ptr<Module> MakeModule(int contexts = 1, const char* name = "fc") {
  const Symbol dense = *Symbol::Create(
      "FullyConnected",
      {.name = name, .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "2"}}});
  ModuleOptions options{.label_names = {}};
  options.compute.contexts.clear();
  for (int i = 0; i < contexts; ++i) options.compute.contexts.push_back(Context::Cpu(i));
  return *Module::Create(*Symbol::Create("MakeLoss", {.name = "loss", .inputs = {dense}}),
                         std::move(options));
}

void InitTraining(BaseModule& module, const InitOptimizerOptions& optimizer) {
  COOPER_ASSERT_OK(module.Bind({.data_shapes = {{.name = "data", .shape = {4, 3}}}}));
  COOPER_ASSERT_OK(module.InitParams());
  COOPER_ASSERT_OK(module.InitOptimizer(optimizer));
}

const std::string& Path() {
  static const auto& path = *new std::string(testing::TempDir() + "/for_mxnet.states");
  return path;
}

TEST(SaveMxnetOptimizerStatesTest, NeedsAnOptimizer) {
  EXPECT_THAT(SaveMxnetOptimizerStates(*MakeModule(), Path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "SaveMxnetOptimizerStates: call InitOptimizer first"));
}

TEST(SaveMxnetOptimizerStatesTest, RefusesContextsWithStatesOfTheirOwn) {
  const auto module = MakeModule(2);
  InitTraining(*module, {.kvstore = ""});
  EXPECT_THAT(SaveMxnetOptimizerStates(*module, Path()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("without a key-value store each context has states of its own")));
}

TEST(SaveMxnetOptimizerStatesTest, RefusesSeveralModules) {
  const auto chain = std::make_unique<SequentialModule>();
  COOPER_ASSERT_OK(chain->Add(MakeModule()));
  COOPER_ASSERT_OK(chain->Add(MakeModule(1, "fc2"), {.auto_wiring = true}));
  InitTraining(*chain, {});
  EXPECT_THAT(
      SaveMxnetOptimizerStates(*chain, Path()),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("has 2 parts with an optimizer")));
}

// States come into being with the first update: a module that has not trained has none.
TEST(SaveMxnetOptimizerStatesTest, WritesADictionaryOfTheStatesThatThereAre) {
  const auto module = MakeModule();
  InitTraining(*module, {.optimizer_params = {{"momentum", "0.9"}}});
  COOPER_ASSERT_OK(SaveMxnetOptimizerStates(*module, Path()));
  COOPER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(Path()));
  EXPECT_EQ(bytes, std::string("\x80\4}.", 4));
  COOPER_ASSERT_OK(module->TrainStep({.data = {*NDArray::Full({4, 3}, 1)}}));
  COOPER_ASSERT_OK(SaveMxnetOptimizerStates(*module, Path()));
  COOPER_ASSERT_OK_AND_ASSIGN(bytes, ReadFile(Path()));
  COOPER_ASSERT_OK_AND_ASSIGN(const MxnetStates states, ParseMxnetStates(bytes));
  EXPECT_THAT(states.parameters, SizeIs(2));
  EXPECT_EQ(std::get<int64_t>(states.parameters[0].key), 1);  // fc_bias
  EXPECT_EQ(std::get<int64_t>(states.parameters[1].key), 0);  // fc_weight
  EXPECT_THAT(states.parameters[0].arrays, SizeIs(1));
}

}  // namespace
}  // namespace cooper
