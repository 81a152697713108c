// Tests batches that are outputs of the previous run, of the same module or of one with the same
// arena, or gradients that the run overwrites.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

// As many outputs as inputs, with intermediate values that share the arena with both.
Symbol Layers() {
  Symbol x = Symbol::Variable("data");
  for (int i = 0; i < 3; ++i) {
    x = Op("FullyConnected", {.name = "fc" + std::to_string(i),
                              .inputs = {i == 0 ? x : Op("tanh", {.inputs = {x}})},
                              .attrs = {{"num_hidden", "8"}}});
  }
  return x;
}

std::unique_ptr<Module> Make(std::vector<Context> contexts, const Module* shared_module = nullptr) {
  auto module =
      Module::Create(Layers(), {.label_names = {}, .compute = {.contexts = std::move(contexts)}});
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK(
      (*module)->Bind({.data_shapes = {{.name = "data", .shape = {4, 8}, .layout = "NC"}},
                       .for_training = false,
                       .shared_module = shared_module}));
  if (shared_module == nullptr) {
    COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
  }
  return *std::move(module);
}

NDArray Output(Module& module, const NDArray& data) {
  COOPER_EXPECT_OK(module.Forward({.data = {data}}, /*is_train=*/false));
  const auto outputs = module.GetOutputs();
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return (*outputs)[0];
}

TEST(OutputAsInputTest, IsCopiedFromTheArena) {
  for (const auto& contexts :
       std::vector<std::vector<Context>>{{Context::Cpu(0)}, {Context::Cpu(0), Context::Cpu(1)}}) {
    SCOPED_TRACE(contexts.size());
    const auto module = Make(contexts);
    const NDArray data = RandomArray({4, 8}, 1);
    const NDArray once = *Output(*module, data).Copy();
    const auto twice = Floats(Output(*module, once));
    const auto thrice = Floats(Output(*module, *Output(*module, once).Copy()));

    EXPECT_EQ(Floats(Output(*module, Output(*module, data))), twice);
    EXPECT_EQ(Floats(Output(*module, Output(*module, Output(*module, data)))), thrice);
    const auto other = Make(contexts, module.get());
    EXPECT_EQ(Floats(Output(*other, Output(*module, data))), twice);
  }
}

// The gradient of the data is written before that of the first weight, which reads the data.
TEST(OutputAsInputTest, IsCopiedFromAGradient) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto module,
      Module::Create(Op("MakeLoss", {.inputs = {Layers()}}), {.label_names = {}}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {4, 8}, .layout = "NC"}},
                                 .inputs_need_grad = true}));
  COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
  const auto weight_gradient = [&](const NDArray& data) {
    COOPER_EXPECT_OK(module->ForwardBackward({.data = {data}}));
    return Floats(module->group()->parameters().Grad("fc0_weight"));
  };
  const NDArray data = RandomArray({4, 8}, 1);
  weight_gradient(data);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto gradients, module->GetInputGrads());
  const auto expected = weight_gradient(*gradients[0].Copy());
  weight_gradient(data);
  EXPECT_EQ(weight_gradient((*module->GetInputGrads())[0]), expected);
}

}  // namespace
}  // namespace cooper
