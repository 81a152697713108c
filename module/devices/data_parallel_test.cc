// Modules on several contexts: as one context with the whole batch, but for the order of sums.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/data_parallel_checks.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

std::vector<Context> Cpus(int n) {
  std::vector<Context> contexts;
  contexts.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) contexts.push_back(Context::Cpu(i));
  return contexts;
}

// A parameter as context `i` has it.
NDArray ValueOf(const Module& module, const std::string& name, int i) {
  return module.group()->parameters().Value(ParameterKind::kArg, name, i);
}

TEST(DataParallelTest, TwentyStepsAreThoseOfOneDevice) {
  CheckTwentySteps(Context::Cpu(0), Cpus(2), {{}, {20, 12}, {1, 7}});
  CheckTwentySteps(Context::Cpu(0), Cpus(3), {{1, 1, 1}});
  CheckTwentySteps(Context::Cpu(0), Cpus(4), {{3, 1, 2, 2}});
}

TEST(DataParallelTest, OutputsGradientsAndMetricsAreOfTheWholeBatch) {
  CheckWholeBatch(Context::Cpu(0), Cpus(3), /*tolerance=*/0);
}

// A store that only sums gives each context the sum: that of all contexts is still the same.
TEST(DataParallelTest, AnUpdateLeavesGradientsAsBackwardLeftThem) {
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    for (const bool on_kvstore : {true, false}) {
      SCOPED_TRACE(testing::Message()
                   << "add " << (req == WriteReq::kAdd) << ", on_kvstore " << on_kvstore);
      const auto make = [&](int contexts) {
        ModuleBindOptions shapes = BatchShapes(32);
        shapes.grad_req = req;
        InitOptimizerOptions optimizer = Momentum();
        optimizer.update_on_kvstore = on_kvstore;
        return MakeTrainable(TwoLayers(), {.compute = {.contexts = Cpus(contexts)}}, shapes,
                             optimizer);
      };
      const auto one = make(1), several = make(3);
      for (Module* module : {one.get(), several.get()}) {
        for (uint64_t step = 0; step < 3; ++step) {
          COOPER_ASSERT_OK(module->ForwardBackward(RandomBatch(32, step)));
          const std::vector<float> before = Floats(*module->GetGrad("fc1_weight"));
          COOPER_ASSERT_OK(module->Update());
          EXPECT_EQ(Floats(*module->GetGrad("fc1_weight")), before);
        }
      }
      ExpectSameParams(*one, *several, kSumOrderTolerance);
    }
  }
}

TEST(DataParallelTest, DataWithoutAGradientHasANullOne) {
  auto module = *Module::Create(TwoLayers(), {.compute = {.contexts = Cpus(2)}});
  ModuleBindOptions shapes = BatchShapes(4);
  shapes.inputs_need_grad = true;
  shapes.grad_reqs = {{"data", WriteReq::kNull}};
  COOPER_ASSERT_OK(module->Bind(shapes));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK(module->ForwardBackward(RandomBatch(4, 1)));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto grads, module->GetInputGrads());
  ASSERT_EQ(grads.size(), 1);
  EXPECT_TRUE(grads[0].is_null());
}

// Labels of another dtype are copied, and must not be those of a batch that comes without.
TEST(DataParallelTest, WithoutLabelsThereAreZeros) {
  const Symbol loss =
      Op("MakeLoss", {.inputs = {Op("elemwise_sub", {.inputs = {Symbol::Variable("data"),
                                                                Symbol::Variable("label")}})}});
  for (const int contexts : {1, 2}) {
    auto module =
        *Module::Create(loss, {.label_names = {"label"}, .compute = {.contexts = Cpus(contexts)}});
    COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {2, 1}}},
                                   .label_shapes = {{.name = "label", .shape = {2, 1}}}}));
    COOPER_ASSERT_OK(module->InitParams());
    DataBatch batch = {.data = {*NDArray::Full({2, 1}, 5)},
                       .label = {*NDArray::Full({2, 1}, 3, DType::kInt32)}};
    COOPER_ASSERT_OK(module->Forward(batch, false));
    EXPECT_THAT(Floats((*module->GetOutputs())[0]), ElementsAre(2, 2));
    batch.label.clear();
    COOPER_ASSERT_OK(module->Forward(batch, false));
    EXPECT_THAT(Floats((*module->GetOutputs())[0]), ElementsAre(5, 5));
  }
}

TEST(DataParallelTest, ABatchOfAnotherSizeIsSplitAnew) {
  auto several = MakeTrainable(TwoLayers(), {.compute = {.contexts = Cpus(2)}}, BatchShapes(8));
  COOPER_ASSERT_OK(several->Forward(RandomBatch(5, 1)));
  EXPECT_THAT(several->executor_group()->slices(), ElementsAre(BatchSlice{0, 3}, BatchSlice{3, 5}));
  EXPECT_EQ((*several->GetOutputs())[0].shape(), Shape({5, 3}));
}

// A batch with fewer rows than contexts is computed by fewer, whenever it comes: gradients that add
// up, and a store that updates, or only sums, have to find nothing of the others.
TEST(DataParallelTest, FewerRowsThanContextsAreForFewerContexts) {
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    for (const bool on_kvstore : {true, false}) {
      for (const std::vector<int64_t>& sizes :
           std::vector<std::vector<int64_t>>{{1, 8, 2, 5}, {8, 1, 1, 8}, {2, 2, 1, 1}}) {
        const auto make = [&](int contexts) {
          ModuleBindOptions shapes = BatchShapes(sizes[0]);
          shapes.grad_req = req;
          shapes.inputs_need_grad = true;
          InitOptimizerOptions optimizer = Momentum();
          optimizer.update_on_kvstore = on_kvstore;
          return MakeTrainable(TwoLayers(), {.compute = {.contexts = Cpus(contexts)}}, shapes,
                               optimizer);
        };
        const auto one = make(1), several = make(3);
        for (size_t step = 0; step < sizes.size(); ++step) {
          const DataBatch batch = RandomBatch(sizes[step], step);
          for (Module* module : {one.get(), several.get()}) {
            COOPER_ASSERT_OK(module->ForwardBackward(batch));
          }
          EXPECT_THAT(Floats((*several->GetOutputs())[0]),
                      Pointwise(FloatNear(1e-5f), Floats((*one->GetOutputs())[0])));
          EXPECT_THAT(Floats((*several->GetInputGrads())[0]),
                      Pointwise(FloatNear(1e-5f), Floats((*one->GetInputGrads())[0])));
          EXPECT_THAT(Floats(*several->GetGrad("fc1_weight")),
                      Pointwise(FloatNear(1e-5f), Floats(*one->GetGrad("fc1_weight"))));
          COOPER_ASSERT_OK(one->Update());
          COOPER_ASSERT_OK(several->Update());
        }
        ExpectSameParams(*one, *several, kSumOrderTolerance);
      }
    }
  }
}

// The output's layout can neither be inferred nor is declared by an attribute.
TEST(DataParallelTest, AnOutputWhoseSamplesNobodyKnowsIsRefused) {
  const auto bind = [](int contexts, const AttrMap& attrs) {
    // Softmax runs over the last axis, which is the batch axis.
    const Symbol softmax =
        Op("softmax", {.name = "over", .inputs = {Symbol::Variable("data")}, .attrs = attrs});
    auto module =
        *Module::Create(softmax, {.label_names = {}, .compute = {.contexts = Cpus(contexts)}});
    return module->Bind({.data_shapes = {{.name = "data", .shape = {3, 4}, .layout = "CN"}}});
  };
  COOPER_EXPECT_OK(bind(1, {}));
  COOPER_EXPECT_OK(bind(2, {{"__layout__", "CN"}}));
  EXPECT_THAT(bind(2, {}), StatusIs(kInvalidArgument, AllOf(HasSubstr("output 'over_output'"),
                                                            HasSubstr("behind softmax 'over'"),
                                                            HasSubstr("__layout__"))));
  EXPECT_THAT(bind(2, {{"__layout__", "NC"}}),
              StatusIs(kInvalidArgument, HasSubstr("'over_output'")));
}

TEST(DataParallelTest, WithoutAStoreEachDeviceGoesItsOwnWay) {
  InitOptimizerOptions optimizer = Momentum();
  optimizer.kvstore = "";
  auto several =
      MakeTrainable(TwoLayers(), {.compute = {.contexts = Cpus(2)}}, BatchShapes(8), optimizer);
  Train(*several, 8, 3);
  const std::vector<float> a = Floats(ValueOf(*several, "fc1_weight", 0));
  const std::vector<float> b = Floats(ValueOf(*several, "fc1_weight", 1));
  EXPECT_NE(a, b);
  std::vector<float> mean;
  for (size_t i = 0; i < a.size(); ++i) mean.push_back((a[i] + b[i]) / 2);
  EXPECT_THAT(Floats(several->GetParams()->args.at("fc1_weight")),
              Pointwise(FloatNear(1e-7f), mean));
}

TEST(DataParallelTest, SetParamsReachesEveryDeviceAndTheStore) {
  auto several = MakeTrainable(TwoLayers(), {.compute = {.contexts = Cpus(2)}}, BatchShapes(8));
  Train(*several, 8, 2);
  ModuleParams params = *several->GetParams();
  for (auto& [name, array] : params.args) COOPER_ASSERT_OK(array.Fill(0.25));
  COOPER_ASSERT_OK(several->SetParams(params.args, params.auxs));
  for (int i : {0, 1}) {
    EXPECT_THAT(Floats(ValueOf(*several, "fc1_weight", i)), testing::Each(0.25f));
  }
  auto one = MakeTrainable(TwoLayers(), {}, BatchShapes(8));
  Train(*one, 8, 2);
  COOPER_ASSERT_OK(one->SetParams(params.args, params.auxs));
  Train(*one, 8, 1);
  Train(*several, 8, 1);
  ExpectSameParams(*one, *several, kSumOrderTolerance);
}

// Large parameters are one array for all CPU contexts, as long as a store keeps them equal.
TEST(DataParallelTest, LargeParametersAreShared) {
  const Symbol hidden =
      Op("FullyConnected",
         {.name = "wide", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "4000"}}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {hidden}, .attrs = {{"num_hidden", "3"}}});
  const Symbol net = Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
  InitOptimizerOptions optimizer = {.optimizer_params = {{"learning_rate", "0.01"}}};
  for (bool on_kvstore : {true, false}) {
    optimizer.update_on_kvstore = on_kvstore;
    auto one = MakeTrainable(net, {}, BatchShapes(8), optimizer);
    auto two = MakeTrainable(net, {.compute = {.contexts = Cpus(2)}}, BatchShapes(8), optimizer);
    Train(*one, 8, 5);
    Train(*two, 8, 5);
    ExpectSameParams(*one, *two, kSumOrderTolerance);
    EXPECT_EQ(ValueOf(*two, "wide_weight", 0).raw_data(),
              ValueOf(*two, "wide_weight", 1).raw_data());
    EXPECT_NE(ValueOf(*two, "fc_bias", 0).raw_data(), ValueOf(*two, "fc_bias", 1).raw_data());
    // Bound to other shapes they are found all the same.
    COOPER_ASSERT_OK(two->ForwardBackward(RandomBatch(6, 9)));
    COOPER_ASSERT_OK(one->ForwardBackward(RandomBatch(6, 9)));
    COOPER_ASSERT_OK(two->Update());
    COOPER_ASSERT_OK(one->Update());
    ExpectSameParams(*one, *two, kSumOrderTolerance);
    // Without a store each has its own again.
    InitOptimizerOptions alone = optimizer;
    alone.kvstore = "";
    alone.force_init = true;
    COOPER_ASSERT_OK(two->InitOptimizer(alone));
    EXPECT_NE(ValueOf(*two, "wide_weight", 0).raw_data(),
              ValueOf(*two, "wide_weight", 1).raw_data());
    Train(*two, 8, 1);
    EXPECT_NE(Floats(ValueOf(*two, "wide_weight", 0)), Floats(ValueOf(*two, "wide_weight", 1)));
  }
}

TEST(DataParallelTest, DropoutDiffersBetweenDevices) {
  const Symbol net = Op("Dropout", {.name = "drop", .inputs = {Symbol::Variable("data")}});
  auto module = Module::Create(net, {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  COOPER_ASSERT_OK(module.status());
  ModuleBindOptions shapes = {.data_shapes = {{.name = "data", .shape = {2, 64}}}};
  COOPER_ASSERT_OK((*module)->Bind(shapes));
  COOPER_ASSERT_OK((*module)->InitParams());
  const DataBatch batch = {.data = {*NDArray::Full({2, 64}, 1)}};
  COOPER_ASSERT_OK((*module)->Forward(batch, true));
  const std::vector<float> first = Floats((*(*module)->GetOutputs())[0]);
  EXPECT_NE(std::vector<float>(first.begin(), first.begin() + 64),
            std::vector<float>(first.begin() + 64, first.end()));
  COOPER_ASSERT_OK((*module)->Forward(batch, true));
  EXPECT_NE(Floats((*(*module)->GetOutputs())[0]), first);
}

TEST(DataParallelTest, StatesOfTooManyRowsAreRefused) {
  const Symbol net =
      Op("elemwise_add", {.inputs = {Symbol::Variable("data"), Symbol::Variable("state")}});
  auto module = *Module::Create(
      net, {.label_names = {}, .compute = {.contexts = Cpus(2), .state_names = {"state"}}});
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {4, 1}}}}));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_EXPECT_OK(module->SetStates({*NDArray::Zeros({4, 1})}));
  EXPECT_THAT(module->SetStates({*NDArray::Zeros({5, 1})}),
              StatusIs(kInvalidArgument, HasSubstr("expected 4 rows over all contexts")));
}

// A time-major batch is split on its second axis, as is the output that says so.
TEST(DataParallelTest, LayoutsSayWhichAxisIsSplit) {
  const Symbol data = Symbol::Variable("data");
  const Symbol net =
      Op("tanh", {.name = "out", .inputs = {data}, .attrs = {{"__layout__", "TNC"}}});
  auto module = Module::Create(net, {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  COOPER_ASSERT_OK(module.status());
  COOPER_ASSERT_OK(
      (*module)->Bind({.data_shapes = {{.name = "data", .shape = {3, 5, 2}, .layout = "TNC"}},
                       .inputs_need_grad = true}));
  COOPER_ASSERT_OK((*module)->InitParams());
  const NDArray values = RandomArray({3, 5, 2}, 1);
  COOPER_ASSERT_OK((*module)->Forward({.data = {values}}, true));
  std::vector<float> expected = Floats(values);
  for (float& v : expected) v = std::tanh(v);
  EXPECT_THAT(Floats((*(*module)->GetOutputs())[0]), Pointwise(FloatNear(1e-6f), expected));
  const NDArray head = RandomArray({3, 5, 2}, 2);
  COOPER_ASSERT_OK((*module)->Backward({head}));
  const std::vector<float> heads = Floats(head);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = heads[i] * (1 - expected[i] * expected[i]);
  }
  EXPECT_THAT(Floats((*(*module)->GetInputGrads())[0]), Pointwise(FloatNear(1e-6f), expected));
  EXPECT_THAT((*module)->Backward({RandomArray({3, 4, 2}, 2)}),
              StatusIs(kInvalidArgument, HasSubstr("expected (3, 5, 2)")));
}

// Each device computes the moving statistics of its rows; GetParams gives their mean.
TEST(DataParallelTest, AuxiliaryStatesAreAveraged) {
  const Symbol net =
      Op("BatchNorm",
         {.name = "bn", .inputs = {Symbol::Variable("data")}, .attrs = {{"momentum", "0"}}});
  auto module = Module::Create(net, {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  COOPER_ASSERT_OK(module.status());
  COOPER_ASSERT_OK((*module)->Bind({.data_shapes = {{.name = "data", .shape = {4, 1, 2, 2}}}}));
  COOPER_ASSERT_OK((*module)->InitParams());
  std::vector<float> values(16, 1);
  std::fill(values.begin() + 8, values.end(), 3);
  const NDArray data = *NDArray::FromVector({4, 1, 2, 2}, values);
  COOPER_ASSERT_OK((*module)->Forward({.data = {data}}, true));
  COOPER_ASSERT_OK((*module)->Backward({data}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, (*module)->GetParams());
  EXPECT_THAT(Floats(params.auxs.at("bn_moving_mean")), ElementsAre(FloatNear(2, 1e-6f)));
}

TEST(DataParallelTest, StatesAreJoinedAndSplit) {
  const Symbol state = Symbol::Variable("h");
  const Symbol sum =
      Op("elemwise_add", {.name = "sum", .inputs = {Symbol::Variable("data"), state}});
  auto module = Module::Create(
      sum, {.label_names = {}, .compute = {.contexts = Cpus(2), .state_names = {"h"}}});
  COOPER_ASSERT_OK(module.status());
  COOPER_ASSERT_OK((*module)->Bind({.data_shapes = {{.name = "data", .shape = {3, 2}}}}));
  COOPER_ASSERT_OK((*module)->InitParams());
  const NDArray values = *NDArray::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  COOPER_ASSERT_OK((*module)->SetStates({values}));
  EXPECT_EQ(Floats((*(*module)->GetStates())[0]), Floats(values));
  COOPER_ASSERT_OK((*module)->Forward({.data = {values}}, true));
  EXPECT_THAT(Floats((*(*module)->GetOutputs())[0]), ElementsAre(2, 4, 6, 8, 10, 12));
  // Carried: the outputs are the next states.
  COOPER_ASSERT_OK((*module)->SetStates(*(*module)->GetOutputs()));
  COOPER_ASSERT_OK((*module)->Forward({.data = {values}}, true));
  EXPECT_THAT(Floats((*(*module)->GetOutputs())[0]), ElementsAre(3, 6, 9, 12, 15, 18));
  COOPER_ASSERT_OK((*module)->SetStates(0));
  EXPECT_THAT(Floats((*(*module)->GetStates())[0]), testing::Each(0));
}

TEST(DataParallelTest, BucketsShareTheReplicas) {
  const SymGen sym_gen = [](const BucketKey&) { return MeanOverTime(); };
  const auto one = TrainBuckets(sym_gen, Cpus(1), Momentum());
  const auto two = TrainBuckets(sym_gen, Cpus(2), Momentum());
  ExpectSameParams(*one, *two, kSumOrderTolerance);
  EXPECT_EQ(two->Report().size(), 3u);
}

TEST(DataParallelTest, WhatCannotBeSplitIsAnError) {
  auto bind = [](ModuleOptions options, const ModuleBindOptions& shapes) {
    auto module = Module::Create(TwoLayers(), std::move(options));
    COOPER_EXPECT_OK(module.status());
    return (*module)->Bind(shapes);
  };
  EXPECT_THAT(bind({.compute = {.contexts = Cpus(2), .work_load_list = {1, 2, 3}}}, BatchShapes(8)),
              StatusIs(kInvalidArgument, HasSubstr("3 numbers for 2 contexts")));
  ModuleBindOptions shapes = BatchShapes(8);
  shapes.label_shapes[0].shape = {7};
  EXPECT_THAT(bind({.compute = {.contexts = Cpus(2)}}, shapes),
              StatusIs(kInvalidArgument, HasSubstr("differ in their batch size")));
  shapes = BatchShapes(8);
  shapes.data_shapes[0].layout = "TC";
  shapes.label_shapes[0].layout = "T";
  EXPECT_THAT(bind({.compute = {.contexts = Cpus(2)}}, shapes),
              StatusIs(kInvalidArgument, HasSubstr("no input has a batch axis")));
  EXPECT_THAT(Module::Create(TwoLayers(), {.compute = {.contexts = {}}}),
              StatusIs(kInvalidArgument, HasSubstr("contexts is empty")));
}

TEST(DataParallelTest, GroupsOfContextsComeInThreeForms) {
  const Context a = Context::Cpu(0), b = Context::Cpu(1);
  const GroupContexts::Map one = {{"g", a}};
  EXPECT_THAT(*GroupContexts(one).For(2), ElementsAre(one, one));
  EXPECT_THAT(*GroupContexts(std::vector<GroupContexts::Map>{one, {{"g", b}}}).For(2),
              ElementsAre(one, GroupContexts::Map{{"g", b}}));
  EXPECT_THAT(*GroupContexts(GroupContexts::ListMap{{"g", {a, b}}}).For(2),
              ElementsAre(one, GroupContexts::Map{{"g", b}}));
  EXPECT_THAT(*GroupContexts(GroupContexts::ListMap{{"g", {a}}}).For(2), ElementsAre(one, one));
  EXPECT_THAT(GroupContexts(GroupContexts::ListMap{{"g", {a, b}}}).For(3),
              StatusIs(kInvalidArgument, HasSubstr("group 'g' has 2 contexts, the module 3")));
  EXPECT_TRUE(GroupContexts().For(3)->empty());
}

}  // namespace
}  // namespace cooper
