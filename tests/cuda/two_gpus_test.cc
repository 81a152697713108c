// Tests modules on gpu(0) and gpu(1): data-parallel, they train as one GPU with the whole batch,
// except for the order of sums; model-parallel, with the same bits.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "module/network/module.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/attr_scope.h"
#include "tests/module/data_parallel_checks.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "2");

constexpr int64_t kRows = 32;

const std::vector<Context> kBoth = {Context::Gpu(0), Context::Gpu(1)};

std::unique_ptr<Module> Trained(const Symbol& symbol, ModuleOptions options,
                                const InitOptimizerOptions& optimizer = Momentum("device")) {
  auto module = MakeTrainable(symbol, std::move(options), BatchShapes(kRows), optimizer);
  Train(*module, kRows, 20);
  return module;
}

TEST(TwoGpusTest, TwentyStepsAreThoseOfOneDevice) {
  COOPER_REQUIRE_GPUS(2);
  CheckTwentySteps(Context::Gpu(0), kBoth, {{}, {20, 12}});
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
      InitOptimizerOptions optimizer = Momentum("device");
      optimizer.gradient_bucket_bytes = bytes;
      optimizer.overlap_gradients = overlap;
      auto both = Trained(TwoLayers(), {.compute = {.contexts = kBoth}}, optimizer);
      COOPER_ASSERT_OK(both->ForwardBackward(RandomBatch(kRows, 21)));
      const std::vector<float> before = Floats(*both->GetGrad("fc1_weight"));
      COOPER_ASSERT_OK(both->Update());
      EXPECT_EQ(Floats(*both->GetGrad("fc1_weight")), before);
      ExpectSameOnAll(*both, kBoth);
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
  ExpectSameParams(*one, *first, kSumOrderTolerance);
}

TEST(TwoGpusTest, OutputsGradientsAndMetricsAreOfTheWholeBatch) {
  COOPER_REQUIRE_GPUS(2);
  CheckWholeBatch(Context::Gpu(0), kBoth, /*tolerance=*/1e-6F);
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
  ExpectSameParams(*TrainBuckets(OfLength, {Context::Gpu(0)}, Momentum("device")),
                   *TrainBuckets(OfLength, kBoth, Momentum("device")), kSumOrderTolerance);
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
  ExpectSameParams(*one, *crossed, kSumOrderTolerance);
}

}  // namespace
}  // namespace cooper
