// Tests ModuleBindOptions::shared_module: what two modules then share, and when they cannot.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

ModuleBindOptions Shapes(int64_t rows, const Module* shared_module = nullptr) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}},
          .shared_module = shared_module};
}

std::unique_ptr<Module> Make(ModuleOptions options = {}) {
  auto module = Module::Create(TwoLayers(), std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::unique_ptr<Module> MakeTrainable(ModuleOptions options = {}) {
  auto module = Make(std::move(options));
  COOPER_EXPECT_OK(module->Bind(Shapes(8)));
  COOPER_EXPECT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_EXPECT_OK(module->InitOptimizer(
      {.optimizer_params = {
           {"learning_rate", "0.1"}, {"momentum", "0.9"}, {"rescale_grad", "0.1"}}}));
  return module;
}

void Step(BaseModule& module, int64_t rows, uint64_t seed) {
  COOPER_ASSERT_OK(module.ForwardBackward(
      {.data = {RandomArray({rows, 6}, seed)}, .label = {Classes(rows, 3, seed)}}));
  COOPER_ASSERT_OK(module.Update());
}

std::vector<float> Weight(const BaseModule& module) {
  return Floats(module.GetParams()->args.at("fc1_weight"));
}

// Two modules in turn compute the same as one that reshapes, on one context and on several.
TEST(SharedModuleTest, ParametersGradientsAndMomentaAreOne) {
  for (const std::vector<Context>& contexts :
       {std::vector<Context>{Context::Cpu()}, {Context::Cpu(0), Context::Cpu(1)}}) {
    auto alone = MakeTrainable({.compute = {.contexts = contexts}});
    auto first = MakeTrainable({.compute = {.contexts = contexts}});
    auto second = Make({.compute = {.contexts = contexts}});
    COOPER_ASSERT_OK(second->Bind(Shapes(4, first.get())));
    EXPECT_TRUE(second->params_initialized());
    EXPECT_TRUE(second->optimizer_initialized());
    for (uint64_t step = 0; step < 6; ++step) {
      const int64_t rows = step % 2 == 0 ? 8 : 4;
      Step(*alone, rows, step);
      Step(step % 2 == 0 ? *first : *second, rows, step);
    }
    EXPECT_EQ(Weight(*first), Weight(*alone));
    EXPECT_EQ(Weight(*second), Weight(*alone));
    for (size_t i = 0; i < contexts.size(); ++i) {
      Executor& a = first->executor_group()->executor(static_cast<int>(i));
      Executor& b = second->executor_group()->executor(static_cast<int>(i));
      EXPECT_EQ(a.arg("fc1_weight").raw_data(), b.arg("fc1_weight").raw_data());
      EXPECT_EQ(a.grad("fc1_weight").raw_data(), b.grad("fc1_weight").raw_data());
    }
    EXPECT_EQ(first->group()->arena_bytes(), alone->group()->arena_bytes())
        << "the smaller plan fits into the arena of the larger one";
  }
}

TEST(SharedModuleTest, BorrowsTheOptimizerThatIsShared) {
  auto first = MakeTrainable();
  auto second = Make();
  EXPECT_THAT(second->BorrowOptimizer(*first),
              StatusIs(kFailedPrecondition, HasSubstr("BorrowOptimizer: call Bind first")));
  COOPER_ASSERT_OK(second->Bind(Shapes(4, first.get())));
  COOPER_ASSERT_OK(second->BorrowOptimizer(*first));
  Step(*second, 4, 1);
  auto alone = MakeTrainable();
  EXPECT_THAT(
      alone->BorrowOptimizer(*first),
      StatusIs(kInvalidArgument, HasSubstr("the modules share no parameters; bind one with")));
  auto without = Make();
  COOPER_ASSERT_OK(without->Bind(Shapes(4)));
  EXPECT_THAT(alone->BorrowOptimizer(*without),
              StatusIs(kFailedPrecondition, HasSubstr("call InitOptimizer of the other module")));
}

TEST(SharedModuleTest, LastsLongerThanTheModuleItCameFrom) {
  auto first = MakeTrainable();
  auto second = Make();
  COOPER_ASSERT_OK(second->Bind(Shapes(4, first.get())));
  const std::vector<float> weight = Weight(*first);
  first.reset();
  EXPECT_EQ(Weight(*second), weight);
  Step(*second, 4, 1);
  COOPER_EXPECT_OK(second->Forward({.data = {RandomArray({5, 6}, 1)}}, /*is_train=*/false));
}

// A network with one more layer behind the shared ones.
TEST(SharedModuleTest, AParameterThatIsNotSharedIsInitializedAsTheOthersWere) {
  auto first = MakeTrainable();
  const Symbol fc1 =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  const Symbol head =
      Op("FullyConnected", {.name = "head", .inputs = {fc1}, .attrs = {{"num_hidden", "2"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto second, Module::Create(head, {.label_names = {}}));
  COOPER_ASSERT_OK(second->Bind(
      {.data_shapes = Shapes(4).data_shapes, .for_training = false, .shared_module = first.get()}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, second->GetParams());
  EXPECT_EQ(params.args.size(), 4u);
  EXPECT_EQ(Floats(params.args.at("fc1_weight")), Weight(*first));
  EXPECT_NE(Floats(params.args.at("head_weight")), std::vector<float>(10, 0.0f));
}

// Another head on the first layer of TwoLayers.
std::unique_ptr<Module> MakeOtherHead() {
  const Symbol fc1 =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  const Symbol head =
      Op("FullyConnected", {.name = "head", .inputs = {fc1}, .attrs = {{"num_hidden", "3"}}});
  return *Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {head}}));
}

std::vector<float> HeadOf(const BaseModule& module) {
  return Floats(module.GetParams()->args.at("head_weight"));
}

TEST(SharedModuleTest, AModuleIsGivenItsOwnParametersAlone) {
  const std::string path = testing::TempDir() + "/own.params";
  auto first = MakeTrainable();
  COOPER_ASSERT_OK(first->SaveParams(path));
  auto second = MakeOtherHead();
  COOPER_ASSERT_OK(second->Bind(Shapes(8, first.get())));
  const std::vector<float> saved = Weight(*first), head = HeadOf(*second);
  Step(*first, 8, 1);
  ASSERT_NE(Weight(*first), saved);
  COOPER_ASSERT_OK(first->LoadParams(path));
  EXPECT_EQ(Weight(*second), saved);
  EXPECT_EQ(HeadOf(*second), head) << "what it does not have stays";
  COOPER_ASSERT_OK_AND_ASSIGN(ModuleParams params, first->GetParams());
  COOPER_EXPECT_OK(first->InitParams({.arg_params = params.args, .force_init = true}));
  // An initializer does not reach it either, whatever is missing.
  params.args.erase("fc1_weight");
  COOPER_EXPECT_OK(first->InitParams({.initializer = init::One(),
                                      .arg_params = params.args,
                                      .allow_missing = true,
                                      .force_init = true}));
  EXPECT_EQ(Weight(*first), std::vector<float>(30, 1.0f));
  EXPECT_EQ(HeadOf(*second), head);
  COOPER_EXPECT_OK(first->InitParams({.initializer = init::Zero(), .force_init = true}));
  EXPECT_EQ(Weight(*second), std::vector<float>(30, 0.0f));
  EXPECT_EQ(HeadOf(*second), head);
  EXPECT_THAT(first->SetParams(params.args, params.auxs),
              StatusIs(kInvalidArgument, HasSubstr("'fc1_weight' is not among the given ones")));
  EXPECT_THAT(second->SetParams(first->GetParams()->args, {}),
              StatusIs(kInvalidArgument, HasSubstr("'head_bias' is not among the given ones")));
}

// Gradients of buckets, which take turns, are applied by the next update of any bucket. Modules
// that share parameters update separately: each applies only its own gradients, or they would count
// twice.
TEST(SharedModuleTest, AddedUpGradientsAreLearntByTheirModule) {
  ModuleBindOptions adding = Shapes(8);
  adding.grad_req = WriteReq::kAdd;
  auto first = Make();
  COOPER_ASSERT_OK(first->Bind(adding));
  COOPER_ASSERT_OK(first->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_ASSERT_OK(first->InitOptimizer());
  auto second = MakeOtherHead();
  adding.shared_module = first.get();
  COOPER_ASSERT_OK(second->Bind(adding));
  for (Module* module : {first.get(), second.get()}) {
    COOPER_ASSERT_OK(
        module->ForwardBackward({.data = {RandomArray({8, 6}, 1)}, .label = {Classes(8, 3, 1)}}));
  }
  const std::vector<float> head = HeadOf(*second);
  COOPER_ASSERT_OK(first->Update());
  EXPECT_EQ(HeadOf(*second), head);
  COOPER_ASSERT_OK(second->Update());
  EXPECT_NE(HeadOf(*second), head);
}

TEST(SharedModuleTest, TheSharedValuesWinOverLoadedAndOwnOnes) {
  const std::string prefix = testing::TempDir() + "/shared";
  auto other = MakeTrainable();
  Step(*other, 8, 1);
  COOPER_ASSERT_OK(other->SaveCheckpoint(prefix, 1, /*save_optimizer_states=*/true));
  auto first = MakeTrainable();
  const std::vector<float> weight = Weight(*first);
  ASSERT_NE(Weight(*other), weight);
  COOPER_ASSERT_OK_AND_ASSIGN(auto loaded, Module::Load(prefix, 1, /*load_optimizer_states=*/true));
  COOPER_ASSERT_OK(loaded->Bind(Shapes(4, first.get())));
  EXPECT_EQ(Weight(*loaded), weight);

  COOPER_ASSERT_OK(other->Bind(Shapes(4, first.get())));
  EXPECT_NE(Weight(*other), weight) << "without force_rebind nothing changes";
  ModuleBindOptions again = Shapes(4, first.get());
  again.force_rebind = true;
  COOPER_ASSERT_OK(other->Bind(again));
  EXPECT_EQ(Weight(*other), weight);
}

TEST(SharedModuleTest, WhatCannotBeSharedIsAnError) {
  auto second = Make();
  auto first = Make();
  EXPECT_THAT(second->Bind(Shapes(4, first.get())),
              StatusIs(kFailedPrecondition, "Bind: call Bind of shared_module first"));
  COOPER_ASSERT_OK(first->Bind(Shapes(8)));
  EXPECT_THAT(second->Bind(Shapes(4, first.get())),
              StatusIs(kFailedPrecondition, "Bind: call InitParams of shared_module first"));
  COOPER_ASSERT_OK(first->InitParams());
  auto two = Make({.compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)}}});
  EXPECT_THAT(
      two->Bind(Shapes(4, first.get())),
      StatusIs(kInvalidArgument, HasSubstr("shared_module is on cpu(0), expected cpu(0), cpu(1)")));
  EXPECT_FALSE(two->binded());

  // A shared parameter with another shape is refused, and the module is unchanged.
  ModuleBindOptions wide = Shapes(4, first.get());
  wide.data_shapes[0].shape = {4, 7};
  EXPECT_THAT(second->Bind(wide), StatusIs(kInvalidArgument, HasSubstr("fc1_weight")));
  EXPECT_FALSE(second->binded());
  wide.shared_module = nullptr;
  COOPER_EXPECT_OK(second->Bind(wide));
  EXPECT_FALSE(second->params_initialized());
  COOPER_EXPECT_OK(first->Forward({.data = {RandomArray({8, 6}, 1)}}, /*is_train=*/false));

  COOPER_ASSERT_OK_AND_ASSIGN(
      auto buckets,
      BucketingModule::Create(
          {.sym_gen = [](const BucketKey&) { return BucketSymbol{.symbol = TwoLayers()}; },
           .default_bucket_key = 1}));
  EXPECT_THAT(buckets->Bind(Shapes(8, first.get())),
              StatusIs(kUnimplemented, HasSubstr("BucketingModule takes no shared_module")));
  SequentialModule chain;
  COOPER_ASSERT_OK(chain.Add(Make(), {.take_labels = true}));
  EXPECT_THAT(chain.Bind(Shapes(8, first.get())),
              StatusIs(kUnimplemented, HasSubstr("SequentialModule takes no shared_module")));
}

}  // namespace
}  // namespace cooper
