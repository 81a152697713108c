// Linked with NCCL's collective, sums over GPUs are NCCL's: under the emulator those of a stand-in.

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/expect_params.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/collective.h"
#include "module/module.h"
#include "module/module_fixtures.h"
#include "ndarray/context.h"
#include "ndarray/cuda/require_gpu.h"
#include "ndarray/device.h"
#include "ndarray/ndarray.h"
#include "ndarray/queue_of.h"
#include "ndarray/status_matchers.h"
#include "third_party/cuda/emulator/runtime/faults.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "2");
COOPER_EMULATE(LAZY, "1");

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

const std::vector<Context> kGpus = {Context::Gpu(0), Context::Gpu(1)};

TEST(NcclTest, IsTheFirstChoice) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  EXPECT_EQ(collective->name(), "nccl");
  // Not for what it cannot add.
  COOPER_ASSERT_OK_AND_ASSIGN(const auto mixed,
                              MakeCollective({Context::Gpu(0), Context::Cpu(0)}, nullptr));
  EXPECT_EQ(mixed->name(), "copies");
}

// With real launches that block, the sums of several devices would wait for each other.
TEST(NcclTest, IsNotUsedWhereLaunchesBlock) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", /*overwrite=*/1);
  const auto collective = MakeCollective(kGpus, nullptr);
  unsetenv("CUDA_LAUNCH_BLOCKING");
  COOPER_ASSERT_OK(collective.status());
  EXPECT_EQ((*collective)->name(), "copies");
}

TEST(NcclTest, SumsOneByOneAndInGroups) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  std::vector<DeviceQueue*> queues;
  std::vector<NDArray> arrays, sums, other;
  for (const Context& gpu : kGpus) {
    queues.push_back(*QueueOf(gpu));
    arrays.push_back(*NDArray::Full({7, 3}, gpu.device_id + 1, DType::kFloat32, gpu));
    sums.push_back(*NDArray::Full({7, 3}, -1, DType::kFloat32, gpu));
    other.push_back(*NDArray::Full({2}, 10, DType::kFloat64, gpu));
  }
  COOPER_ASSERT_OK(collective->AllReduceSum(arrays, sums, queues));
  for (const NDArray& sum : sums) EXPECT_THAT(*sum.ToVector<float>(), Each(3));
  COOPER_ASSERT_OK(collective->GroupStart());
  COOPER_ASSERT_OK(collective->AllReduceSum(arrays, arrays, queues));
  COOPER_ASSERT_OK(collective->AllReduceSum(other, other, queues));
  COOPER_ASSERT_OK(collective->GroupEnd());
  for (const NDArray& array : arrays) EXPECT_THAT(*array.ToVector<float>(), Each(3));
  for (const NDArray& array : other) EXPECT_THAT(*array.ToVector<double>(), Each(20));
}

TEST(NcclTest, ErrorsNameCallRanksAndShapes) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  std::vector<DeviceQueue*> queues;
  std::vector<NDArray> arrays;
  for (const Context& gpu : kGpus) {
    queues.push_back(*QueueOf(gpu));
    arrays.push_back(*NDArray::Zeros({7, 3}, DType::kFloat32, gpu));
  }
  cuda_emulator::FailNext("ncclAllReduce", cudaErrorUnknown, cuda_emulator::FaultTime::kCall);
  EXPECT_THAT(collective->AllReduceSum(arrays, arrays, queues),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("over ranks 0 to 1 of 2 of (7, 3) float32: "),
                             HasSubstr("ncclGroupEnd: unhandled cuda error: "))));
  COOPER_EXPECT_OK(collective->AllReduceSum(arrays, arrays, queues));
}

// Whole trainings: NCCL's order of sums is that of the copies here.
TEST(NcclTest, ModulesTrainAsOnOneGpu) {
  const auto train = [](const std::vector<Context>& contexts, int64_t bucket_bytes) {
    auto module = *Module::Create(TwoLayers(), {.contexts = contexts});
    COOPER_EXPECT_OK(
        module->Bind({.data_shapes = {{.name = "data", .shape = {32, 6}, .layout = "NC"}},
                      .label_shapes = {{.name = "softmax_label", .shape = {32}, .layout = "N"}}}));
    COOPER_EXPECT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
    COOPER_EXPECT_OK(module->InitOptimizer(
        {.kvstore = "device",
         .gradient_bucket_bytes = bucket_bytes,
         .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}}));
    for (uint64_t step = 0; step < 10; ++step) {
      COOPER_EXPECT_OK(module->ForwardBackward(
          {.data = {RandomArray({32, 6}, step)}, .label = {Classes(32, 3, step)}}));
      COOPER_EXPECT_OK(module->Update());
    }
    return module;
  };
  const auto one = train({Context::Gpu(0)}, 1000), both = train(kGpus, 1000);
  ExpectSameParams(*one, *both, 4e-5F);  // as two_gpus_test.cc derives it
  ExpectSameParams(*both, *train(kGpus, 4));
}

}  // namespace
}  // namespace cooper
