// Tests modules on gpu(0) and gpu(1): data-parallel, they train as one GPU with the whole batch,
// except for the order of sums; model-parallel, with the same bits.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/attr_scope.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "2");

using ::testing::FloatNear;
using ::testing::Pointwise;

// Gradients are sums over 32 rows of values below 1, computed in another order. The error of such a
// sum is below 32 * 2^-24, and 20 steps with momentum 0.9 and rate 0.1 apply at most 20 of them.
constexpr float kTolerance = 4e-5F;
constexpr int64_t kRows = 32;

const std::vector<Context> kBoth = {Context::Gpu(0), Context::Gpu(1)};

InitOptimizerOptions Momentum(const std::string& kvstore = "device") {
  return {.kvstore = kvstore, .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}};
}

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

DataBatch RandomBatch(int64_t rows, uint64_t seed) {
  return {.data = {RandomArray({rows, 6}, seed)}, .label = {Classes(rows, 3, seed)}};
}

std::unique_ptr<Module> Trained(const Symbol& symbol, ModuleOptions options,
                                const InitOptimizerOptions& optimizer = Momentum()) {
  auto module = Module::Create(symbol, std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK((*module)->Bind(Shapes(kRows)));
  COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_EXPECT_OK((*module)->InitOptimizer(optimizer));
  for (uint64_t step = 0; step < 20; ++step) {
    COOPER_EXPECT_OK((*module)->ForwardBackward(RandomBatch(kRows, step)));
    COOPER_EXPECT_OK((*module)->Update());
  }
  return *std::move(module);
}

// Expects the same bits on every device.
void ExpectSameOnAll(const Module& module) {
  const Parameters& parameters = module.group()->parameters();
  for (const std::string& name : parameters.Names(ParameterKind::kArg)) {
    const std::vector<float> first = Floats(parameters.Value(ParameterKind::kArg, name, 0));
    for (int i = 1; i < parameters.num_contexts(); ++i) {
      const NDArray other = parameters.Value(ParameterKind::kArg, name, i);
      EXPECT_EQ(other.context(), Context::Gpu(i)) << name;
      EXPECT_EQ(Floats(other), first) << name;
    }
  }
}

TEST(TwoGpusTest, TwentyStepsAreThoseOfOneDevice) {
  COOPER_REQUIRE_GPUS(2);
  const auto one = Trained(TwoLayers(), {.compute = {.contexts = {Context::Gpu(0)}}});
  for (const std::vector<double>& loads : {std::vector<double>{}, {20, 12}}) {
    for (const char* type : {"local", "device"}) {
      for (const bool on_kvstore : {true, false}) {
        SCOPED_TRACE(testing::Message() << type << ", on_kvstore " << on_kvstore);
        InitOptimizerOptions optimizer = Momentum(type);
        optimizer.update_on_kvstore = on_kvstore;
        const auto both = Trained(
            TwoLayers(), {.compute = {.contexts = kBoth, .work_load_list = loads}}, optimizer);
        ExpectSameParams(*one, *both, kTolerance);
        ExpectSameOnAll(*both);
      }
    }
  }
}

// Gradients are summed in the same order, whichever are summed together and whether or not the
// backward pass is still running; the gradients themselves do not change.
TEST(TwoGpusTest, NeitherBucketsNorOverlapShow) {
  COOPER_REQUIRE_GPUS(2);
  const auto one = Trained(TwoLayers(), {.compute = {.contexts = {Context::Gpu(0)}}});
  std::unique_ptr<Module> first;
  for (const int64_t bytes : {1 << 20, 80, 4}) {
    for (const bool overlap : {false, true}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, overlap " << overlap);
      InitOptimizerOptions optimizer = Momentum();
      optimizer.gradient_bucket_bytes = bytes;
      optimizer.overlap_gradients = overlap;
      auto both = Trained(TwoLayers(), {.compute = {.contexts = kBoth}}, optimizer);
      COOPER_ASSERT_OK(both->ForwardBackward(RandomBatch(kRows, 21)));
      const std::vector<float> before = Floats(*both->GetGrad("fc1_weight"));
      COOPER_ASSERT_OK(both->Update());
      EXPECT_EQ(Floats(*both->GetGrad("fc1_weight")), before);
      ExpectSameOnAll(*both);
      // A pass without a following update is discarded.
      COOPER_ASSERT_OK(both->ForwardBackward(RandomBatch(kRows, 22)));
      COOPER_ASSERT_OK(both->ForwardBackward(RandomBatch(kRows, 23)));
      COOPER_ASSERT_OK(both->Update());
      if (first == nullptr) {
        first = std::move(both);
      } else {
        ExpectSameParams(*first, *both);
      }
    }
  }
  for (const uint64_t step : {21, 23}) {
    COOPER_ASSERT_OK(one->ForwardBackward(RandomBatch(kRows, step)));
    COOPER_ASSERT_OK(one->Update());
  }
  ExpectSameParams(*one, *first, kTolerance);
}

TEST(TwoGpusTest, OutputsGradientsAndMetricsAreOfTheWholeBatch) {
  COOPER_REQUIRE_GPUS(2);
  const auto bind = [](const std::vector<Context>& contexts) {
    auto module = Module::Create(TwoLayers(), {.compute = {.contexts = contexts}});
    ModuleBindOptions shapes = Shapes(7);
    shapes.inputs_need_grad = true;
    COOPER_EXPECT_OK((*module)->Bind(shapes));
    COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
    return *std::move(module);
  };
  const auto one = bind({Context::Gpu(0)}), both = bind(kBoth);
  const DataBatch batch = RandomBatch(7, 3);
  COOPER_ASSERT_OK(one->ForwardBackward(batch));
  COOPER_ASSERT_OK(both->ForwardBackward(batch));
  EXPECT_THAT(Floats((*both->GetOutputs())[0]),
              Pointwise(FloatNear(1e-6F), Floats((*one->GetOutputs())[0])));
  EXPECT_THAT(Floats((*both->GetInputGrads())[0]),
              Pointwise(FloatNear(1e-6F), Floats((*one->GetInputGrads())[0])));
  EXPECT_THAT(Floats(*both->GetGrad("fc1_weight")),
              Pointwise(FloatNear(1e-5F), Floats(*one->GetGrad("fc1_weight"))));
  const auto a = Accuracy({}), b = Accuracy({});
  COOPER_ASSERT_OK(one->UpdateMetric(*a, batch.label));
  COOPER_ASSERT_OK(both->UpdateMetric(*b, batch.label));
  EXPECT_EQ(a->GetNameValue(), b->GetNameValue());
}

// Returns a network with one layer for each length, and one that all lengths share.
Symbol OfLength(const BucketKey& key) {
  const Symbol own = Op("FullyConnected", {.name = "own" + key.ToString(),
                                           .inputs = {Symbol::Variable("data")},
                                           .attrs = {{"num_hidden", "5"}}});
  const Symbol act =
      Op("Activation", {.name = "act", .inputs = {own}, .attrs = {{"act_type", "tanh"}}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {act}, .attrs = {{"num_hidden", "2"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

TEST(TwoGpusTest, BucketsTrainAsOnOne) {
  COOPER_REQUIRE_GPUS(2);
  const auto train = [](const std::vector<Context>& contexts) {
    auto module = BucketingModule::Create(
        {.sym_gen = [](const BucketKey& key) { return BucketSymbol{.symbol = OfLength(key)}; },
         .default_bucket_key = 4,
         .compute = {.contexts = contexts}});
    const auto shapes = [](int64_t length) {
      return ModuleBindOptions{
          .data_shapes = {{.name = "data", .shape = {8, length}, .layout = "NT"}},
          .label_shapes = {{.name = "softmax_label", .shape = {8}, .layout = "N"}}};
    };
    COOPER_EXPECT_OK((*module)->Bind(shapes(4)));
    COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
    COOPER_EXPECT_OK((*module)->InitOptimizer(Momentum()));
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
  };
  ExpectSameParams(*train({Context::Gpu(0)}), *train(kBoth), kTolerance);
}

// Returns two layers, each in its own group, connected forward and backward.
Symbol InTwoGroups() {
  Symbol hidden;
  {
    const AttrScope scope(AttrMap{{"ctx_group", "left"}});
    hidden =
        Op("FullyConnected",
           {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
    hidden = Op("Activation", {.name = "act", .inputs = {hidden}, .attrs = {{"act_type", "tanh"}}});
  }
  const AttrScope scope(AttrMap{{"ctx_group", "right"}});
  const Symbol fc2 =
      Op("FullyConnected", {.name = "fc2", .inputs = {hidden}, .attrs = {{"num_hidden", "3"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc2}});
}

TEST(TwoGpusTest, GroupsOfBothTrainAsOne) {
  COOPER_REQUIRE_GPUS(2);
  const Context a = Context::Gpu(0), b = Context::Gpu(1);
  const auto one = Trained(InTwoGroups(), {.compute = {.contexts = {a}}});
  const auto placed = Trained(
      InTwoGroups(),
      {.compute = {.contexts = {a},
                   .group2ctxs = GroupContexts(GroupContexts::Map{{"left", a}, {"right", b}})}});
  const Parameters& parameters = placed->group()->parameters();
  EXPECT_EQ(parameters.Value(ParameterKind::kArg, "fc1_weight").context(), a);
  EXPECT_EQ(parameters.Value(ParameterKind::kArg, "fc2_weight").context(), b);
  ExpectSameParams(*one, *placed);

  // Both at once: each half of the batch passes through both GPUs, in opposite directions.
  const auto crossed =
      Trained(InTwoGroups(), {.compute = {.contexts = kBoth,
                                          .group2ctxs = GroupContexts(GroupContexts::ListMap{
                                              {"left", {a, b}}, {"right", {b, a}}})}});
  ExpectSameParams(*one, *crossed, kTolerance);
}

}  // namespace
}  // namespace cooper
