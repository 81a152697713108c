#include "tests/module/data_parallel_checks.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

std::unique_ptr<Module> MakeInitialized(const Symbol& symbol, ModuleOptions options,
                                        const ModuleBindOptions& shapes) {
  auto module = Module::Create(symbol, std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK((*module)->Bind(shapes));
  COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
  return *std::move(module);
}

}  // namespace

InitOptimizerOptions Momentum(const std::string& kvstore) {
  return {.kvstore = kvstore, .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}};
}

ModuleBindOptions BatchShapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

DataBatch RandomBatch(int64_t rows, uint64_t seed) {
  return {.data = {RandomArray({rows, 6}, seed)}, .label = {Classes(rows, 3, seed)}};
}

std::unique_ptr<Module> MakeTrainable(const Symbol& symbol, ModuleOptions options,
                                      const ModuleBindOptions& shapes,
                                      const InitOptimizerOptions& optimizer) {
  auto module = MakeInitialized(symbol, std::move(options), shapes);
  COOPER_EXPECT_OK(module->InitOptimizer(optimizer));
  return module;
}

void Train(BaseModule& module, int64_t rows, int steps) {
  for (int step = 0; step < steps; ++step) {
    COOPER_ASSERT_OK(module.ForwardBackward(RandomBatch(rows, step)));
    COOPER_ASSERT_OK(module.Update());
  }
}

void ExpectSameOnAll(const Module& module, const std::vector<Context>& contexts) {
  const auto& parameters = module.group()->parameters();
  ASSERT_EQ(parameters.num_contexts(), static_cast<int>(contexts.size()));
  for (const std::string& name : parameters.Names(ParameterKind::kArg)) {
    const std::vector<float> first = Floats(parameters.Value(ParameterKind::kArg, name, 0));
    for (int i = 0; i < parameters.num_contexts(); ++i) {
      const NDArray value = parameters.Value(ParameterKind::kArg, name, i);
      EXPECT_EQ(value.context(), contexts[i]) << name;
      EXPECT_EQ(Floats(value), first) << name;
    }
  }
}

void CheckTwentySteps(const Context& one, const std::vector<Context>& several,
                      const std::vector<std::vector<double>>& work_loads) {
  constexpr int64_t kRows = 32;
  const auto expected =
      MakeTrainable(TwoLayers(), {.compute = {.contexts = {one}}}, BatchShapes(kRows));
  Train(*expected, kRows, 20);
  for (const std::vector<double>& loads : work_loads) {
    for (const char* type : {"local", "device"}) {
      for (const bool on_kvstore : {true, false}) {
        SCOPED_TRACE(testing::Message() << testing::PrintToString(loads) << ", " << type
                                        << ", on_kvstore " << on_kvstore);
        InitOptimizerOptions optimizer = Momentum(type);
        optimizer.update_on_kvstore = on_kvstore;
        const auto module =
            MakeTrainable(TwoLayers(), {.compute = {.contexts = several, .work_load_list = loads}},
                          BatchShapes(kRows), optimizer);
        Train(*module, kRows, 20);
        ExpectSameParams(*expected, *module, kSumOrderTolerance);
        ExpectSameOnAll(*module, several);
      }
    }
  }
}

void CheckWholeBatch(const Context& one, const std::vector<Context>& several, float tolerance) {
  ModuleBindOptions shapes = BatchShapes(7);
  shapes.inputs_need_grad = true;
  const auto a = MakeInitialized(TwoLayers(), {.compute = {.contexts = {one}}}, shapes);
  const auto b = MakeInitialized(TwoLayers(), {.compute = {.contexts = several}}, shapes);
  const DataBatch batch = RandomBatch(7, 3);
  COOPER_ASSERT_OK(a->ForwardBackward(batch));
  COOPER_ASSERT_OK(b->ForwardBackward(batch));
  EXPECT_EQ(b->output_shapes(), a->output_shapes());
  EXPECT_THAT(Floats((*b->GetOutputs())[0]),
              Pointwise(FloatNear(tolerance), Floats((*a->GetOutputs())[0])));
  EXPECT_THAT(Floats((*b->GetInputGrads())[0]),
              Pointwise(FloatNear(tolerance), Floats((*a->GetInputGrads())[0])));
  EXPECT_THAT(Floats(*b->GetGrad("fc1_weight")),
              Pointwise(FloatNear(1e-5F), Floats(*a->GetGrad("fc1_weight"))));
  const auto metric_a = Accuracy({}), metric_b = Accuracy({});
  COOPER_ASSERT_OK(a->UpdateMetric(*metric_a, batch.label));
  COOPER_ASSERT_OK(b->UpdateMetric(*metric_b, batch.label));
  EXPECT_EQ(metric_a->GetNameValue(), metric_b->GetNameValue());
}

std::unique_ptr<BucketingModule> TrainBuckets(const SymGen& sym_gen,
                                              const std::vector<Context>& contexts,
                                              const InitOptimizerOptions& optimizer) {
  auto module = BucketingModule::Create(
      {.sym_gen = sym_gen, .default_bucket_key = 4, .compute = {.contexts = contexts}});
  const auto shapes = [](int64_t length) {
    return ModuleBindOptions{
        .data_shapes = {{.name = "data", .shape = {8, length}, .layout = "NT"}},
        .label_shapes = {{.name = "softmax_label", .shape = {8}, .layout = "N"}}};
  };
  COOPER_EXPECT_OK((*module)->Bind(shapes(4)));
  COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_EXPECT_OK((*module)->InitOptimizer(optimizer));
  for (int step = 0; step < 12; ++step) {
    const int64_t length = 2 + step % 3;
    DataBatch batch = {.data = {RandomArray({8, length}, step)}, .label = {Classes(8, 2, step)}};
    batch.bucket_key = length;
    batch.provide_data = shapes(length).data_shapes;
    batch.provide_label = shapes(length).label_shapes;
    COOPER_EXPECT_OK((*module)->ForwardBackward(batch));
    COOPER_EXPECT_OK((*module)->Update());
  }
  return *std::move(module);
}

}  // namespace cooper
