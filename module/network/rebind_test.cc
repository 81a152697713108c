// Tests what a forced Bind resets: accumulated gradients, and states that persist over batches.

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

ModuleBindOptions Shapes(int64_t rows, bool force_rebind = false) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}},
          .force_rebind = force_rebind,
          .grad_req = WriteReq::kAdd};
}

DataBatch Batch(uint64_t seed) {
  return {.data = {RandomArray({4, 6}, seed)}, .label = {Classes(4, 3, seed)}};
}

void MakeTrainable(BaseModule& module) {
  COOPER_ASSERT_OK(module.Bind(Shapes(4)));
  COOPER_ASSERT_OK(module.InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_ASSERT_OK(module.InitOptimizer({.optimizer_params = {{"learning_rate", "1"}},
                                         .normalization = GradientNormalization::kSamples}));
}

// Checks that a forced bind discards the gradients that `disturbed` had before it.
void ExpectNothingIsLeft(BaseModule& disturbed, BaseModule& undisturbed) {
  for (BaseModule* module : {&disturbed, &undisturbed}) MakeTrainable(*module);
  COOPER_ASSERT_OK(disturbed.ForwardBackward(Batch(1)));
  COOPER_ASSERT_OK(disturbed.Bind(Shapes(4, /*force_rebind=*/true)));
  for (BaseModule* module : {&disturbed, &undisturbed}) {
    COOPER_ASSERT_OK(module->ForwardBackward(Batch(2)));
    COOPER_ASSERT_OK(module->Update());
  }
  ExpectSameParams(undisturbed, disturbed);
}

std::unique_ptr<BucketingModule> Buckets() {
  return *BucketingModule::Create(
      {.sym_gen = [](const BucketKey&) { return TwoLayers(); }, .default_bucket_key = 1});
}

TEST(RebindTest, GradientsBeginAnew) {
  ExpectNothingIsLeft(**Module::Create(TwoLayers()), **Module::Create(TwoLayers()));
  ExpectNothingIsLeft(*Buckets(), *Buckets());
}

TEST(RebindTest, ABindThatFailsLeavesGradientsAsTheyAre) {
  auto module = *Module::Create(TwoLayers());
  MakeTrainable(*module);
  COOPER_ASSERT_OK(module->ForwardBackward(Batch(1)));
  const std::vector<float> before = Floats(*module->GetGrad("fc1_weight"));
  ModuleBindOptions wide = Shapes(4, /*force_rebind=*/true);
  wide.data_shapes[0].shape = {4, 7};
  EXPECT_FALSE(module->Bind(wide).ok());
  EXPECT_EQ(Floats(*module->GetGrad("fc1_weight")), before);
}

// data + carried, which has the batch's shape.
Symbol AddCarried() {
  return Op("elemwise_add",
            {.name = "sum", .inputs = {Symbol::Variable("data"), Symbol::Variable("carried")}});
}

void ExpectStatesOfAnySize(BaseModule& module) {
  const auto bind = [&module](int64_t rows) {
    return module.Bind({.data_shapes = {{.name = "data", .shape = {rows}, .layout = "N"}},
                        .for_training = false,
                        .force_rebind = true});
  };
  COOPER_ASSERT_OK(bind(2));
  COOPER_ASSERT_OK(module.InitParams());
  COOPER_ASSERT_OK(module.SetStates(5.0));
  COOPER_ASSERT_OK(bind(3));
  COOPER_ASSERT_OK(module.Forward({.data = {*NDArray::FromVector<float>({3}, {1, 2, 3})}}));
  EXPECT_THAT(Floats((*module.GetOutputs())[0]), ElementsAre(1, 2, 3));
  COOPER_ASSERT_OK(module.SetStates(5.0));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> states, module.GetStates());
  EXPECT_THAT(Floats(states[0]), Each(5.0f));
  // A failed bind does not change them.
  EXPECT_FALSE(module.Bind({.data_shapes = {}, .for_training = false, .force_rebind = true}).ok());
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray kept,
                              module.group()->parameters().Mean(ParameterKind::kState, "carried"));
  EXPECT_THAT(Floats(kept), ElementsAre(5, 5, 5));
}

TEST(RebindTest, StatesTakeTheNewBatchSize) {
  ExpectStatesOfAnySize(
      **Module::Create(AddCarried(), {.label_names = {}, .compute = {.state_names = {"carried"}}}));
  const SymGen sym_gen = [](const BucketKey&) {
    return BucketSymbol{.symbol = AddCarried(), .label_names = {}};
  };
  ExpectStatesOfAnySize(**BucketingModule::Create(
      {.sym_gen = sym_gen, .default_bucket_key = 1, .compute = {.state_names = {"carried"}}}));
}

}  // namespace
}  // namespace cooper
