// Tests sums over GPUs in a program that links NCCL's collective; under the emulator, NCCL is a
// stand-in.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/collective.h"
#include "module/network/module.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tests/cuda_emulator/runtime/faults.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

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
  // NCCL is not used for contexts that it cannot add.
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
    queues.push_back(*GetQueue(gpu));
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
    queues.push_back(*GetQueue(gpu));
    arrays.push_back(*NDArray::Zeros({7, 3}, DType::kFloat32, gpu));
  }
  cuda_emulator::FailNext("ncclAllReduce", cudaErrorUnknown, cuda_emulator::FaultTime::kCall);
  EXPECT_THAT(collective->AllReduceSum(arrays, arrays, queues),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("over ranks 0 to 1 of 2 of (7, 3) float32: "),
                             HasSubstr("ncclGroupEnd: unhandled cuda error: "))));
  COOPER_EXPECT_OK(collective->AllReduceSum(arrays, arrays, queues));
}

// A world in which `others` other processes gather the same text as this one.
class FakeWorld : public CollectiveWorld {
 public:
  explicit FakeWorld(size_t others) : others_(others) {}
  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(others_) + 1; }
  absl::StatusOr<std::vector<std::string>> AllGatherText(const std::string& text) override {
    return std::vector<std::string>(others_ + 1, text);
  }
  absl::Status AllReduceSum(absl::Span<float>) override { return absl::OkStatus(); }
  absl::Status AllReduceSum(absl::Span<double>) override { return absl::OkStatus(); }
  int dead() const override { return dead_.load(); }
  void Die(int rank) { dead_.store(rank); }

 private:
  const size_t others_;
  std::atomic<int> dead_ = -1;
};

// The stand-in aborts a program that waits for ranks of other processes.
TEST(NcclTest, WhatWasMadeOfASetThatFailsIsGivenUp) {
  FakeWorld world(/*others=*/1);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, &world));
  EXPECT_EQ(collective->name(), "copies");
}

TEST(NcclTest, GivesUpWhatWouldWaitForADeadProcess) {
  FakeWorld world(/*others=*/0);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, &world));
  EXPECT_EQ(collective->name(), "nccl");
  std::vector<DeviceQueue*> queues;
  std::vector<NDArray> arrays;
  for (const Context& gpu : kGpus) {
    queues.push_back(*GetQueue(gpu));
    arrays.push_back(*NDArray::Full({7, 3}, 1, DType::kFloat32, gpu));
  }
  COOPER_ASSERT_OK(collective->AllReduceSum(arrays, arrays, queues));
  for (const NDArray& array : arrays) ASSERT_THAT(*array.ToVector<float>(), Each(2));
  COOPER_ASSERT_OK(collective->AllReduceSum(arrays, arrays, queues));  // started and not finished
  world.Die(0);
  absl::Status status;
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = collective->GroupStart();
    if (!status.ok()) break;
    COOPER_ASSERT_OK(collective->GroupEnd());
  }
  const auto gone = StatusIs(absl::StatusCode::kUnavailable, HasSubstr("rank 0 of 1 is gone"));
  EXPECT_THAT(status, gone);
  EXPECT_THAT(collective->AllReduceSum(arrays, arrays, queues), gone);
  for (const NDArray& array : arrays) EXPECT_THAT(*array.ToVector<float>(), Each(2));
}

// Runs whole trainings: NCCL sums in the same order as the copies here.
TEST(NcclTest, ModulesTrainAsOnOneGpu) {
  const auto train = [](const std::vector<Context>& contexts, int64_t bucket_bytes) {
    auto module = *Module::Create(TwoLayers(), {.compute = {.contexts = contexts}});
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
  ExpectSameParams(*one, *both, 4e-5F);  // two_gpus_test.cc derives the tolerance
  ExpectSameParams(*both, *train(kGpus, 4));
}

}  // namespace
}  // namespace cooper
