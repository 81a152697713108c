// Tests the emulator's counters: calls, waits, allocations, and the work of kernels.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/tests/runtime_kernels.h"

namespace cooper::cuda_emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Lanes of a warp run together, as the counting of transactions assumes, unless their order is
// random.
const int kInOrder = setenv("COOPER_CUDA_EMULATOR_SEED", "0", /*overwrite=*/1);
// Work is counted when it runs.
const int kAtOnce = setenv("COOPER_CUDA_EMULATOR_LAZY", "0", /*overwrite=*/1);

constexpr int kCount = 200;
constexpr int64_t kBytes = kCount * 4;

#define EXPECT_CUDA_OK(call) EXPECT_EQ(call, cudaSuccess)

MATCHER_P2(IsBytes, count, bytes, "") { return arg.count == count && arg.bytes == bytes; }

class CostsTest : public testing::Test {
 protected:
  CostsTest() {
    EXPECT_CUDA_OK(cudaStreamCreate(&stream_));
    EXPECT_CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&data_), kBytes));
    ResetCosts();
  }
  ~CostsTest() override {
    EXPECT_CUDA_OK(cudaFree(data_));
    EXPECT_CUDA_OK(cudaStreamDestroy(stream_));
  }

  float* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(CostsTest, KernelsAreCountedByName) {
  for (int i = 0; i < 3; ++i) LaunchScale(kCount, 2, 1, data_, stream_);
  LaunchCount(5);
  const Costs costs = GetCosts();
  ASSERT_THAT(costs.kernels, SizeIs(2));
  EXPECT_EQ(costs.num_kernel_runs(), 4);
  EXPECT_THAT(costs.queued, ElementsAre(Pair("kernel", 4)));
  EXPECT_EQ(costs.num_waits(), 0);
  const auto& [name, scale] = *costs.kernels.rbegin();
  EXPECT_THAT(name, HasSubstr("Scale"));
  EXPECT_EQ(scale.runs, 3);
  EXPECT_EQ(scale.counters.global_read_bytes, 3 * kBytes);
  EXPECT_EQ(scale.counters.global_written_bytes, 3 * kBytes);
  EXPECT_EQ(scale.counters.flops, 3 * 2 * kCount);
  EXPECT_GT(scale.counters.instructions, 3 * 5 * kCount);
  EXPECT_EQ(scale.counters.global_read_sectors, 0) << "nobody asked for it";
  ResetCosts();
  EXPECT_THAT(GetCosts().kernels, IsEmpty());
}

TEST_F(CostsTest, SectorsAreCountedOnRequest) {
  CountTransactions(true);
  LaunchScale(kCount, 2, 1, data_, stream_);
  CountTransactions(false);
  LaunchScale(kCount, 2, 1, data_, stream_);
  const ptx::Counters counters = GetCosts().kernels.begin()->second.counters;
  EXPECT_EQ(counters.global_read_sectors, kBytes / 32);
  EXPECT_EQ(counters.global_written_sectors, kBytes / 32);
}

TEST_F(CostsTest, MemoryIsBehindACacheOnRequest) {
  SimulateCache(1 << 20);
  for (int i = 0; i < 3; ++i) LaunchScale(kCount, 2, 1, data_, stream_);
  EXPECT_CUDA_OK(cudaMemsetAsync(data_, 0, 64, stream_));
  std::vector<float> host(kCount);
  EXPECT_CUDA_OK(cudaMemcpy(host.data(), data_, kBytes, cudaMemcpyDeviceToHost));
  const Costs costs = GetCosts();
  EXPECT_EQ(costs.kernels.begin()->second.memory_bytes, kBytes) << "read once, not written yet";
  EXPECT_EQ(costs.copies.at("fill").memory_bytes, 0);
  EXPECT_EQ(costs.copies.at("device to host").memory_bytes, 0);
  EXPECT_EQ(FlushCache(), kBytes);
  EXPECT_EQ(FlushCache(), 0);
  SimulateCache(0);
  LaunchScale(kCount, 2, 1, data_, stream_);
  EXPECT_EQ(GetCosts().kernels.begin()->second.memory_bytes, kBytes);
}

TEST_F(CostsTest, AGraphIsOneCallHoweverMuchItHolds) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA_OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  LaunchScale(kCount, 2, 1, data_, stream_);
  LaunchScale(kCount, 3, 1, data_, stream_);
  EXPECT_CUDA_OK(cudaMemsetAsync(data_, 0, 40, stream_));
  EXPECT_CUDA_OK(cudaStreamEndCapture(stream_, &graph));
  EXPECT_CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(GetCosts().num_queued(), 0);
  for (int i = 0; i < 2; ++i) EXPECT_CUDA_OK(cudaGraphLaunch(exec, stream_));
  const Costs costs = GetCosts();
  EXPECT_THAT(costs.queued, ElementsAre(Pair("graph", 2)));
  EXPECT_EQ(costs.num_kernel_runs(), 4);
  EXPECT_THAT(costs.copies, ElementsAre(Pair("fill", IsBytes(2, 80))));
  EXPECT_CUDA_OK(cudaGraphExecDestroy(exec));
  EXPECT_CUDA_OK(cudaGraphDestroy(graph));
}

TEST_F(CostsTest, WaitsAreCountedByCall) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA_OK(cudaEventCreate(&event));
  EXPECT_CUDA_OK(cudaEventRecord(event, stream_));
  EXPECT_CUDA_OK(cudaStreamWaitEvent(nullptr, event, 0));
  EXPECT_EQ(GetCosts().num_waits(), 0) << "streams wait for each other, the host does not";
  EXPECT_CUDA_OK(cudaEventSynchronize(event));
  EXPECT_CUDA_OK(cudaStreamSynchronize(stream_));
  EXPECT_CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_CUDA_OK(cudaDeviceSynchronize());
  EXPECT_THAT(GetCosts().waits,
              ElementsAre(Pair("cudaDeviceSynchronize", 1), Pair("cudaEventSynchronize", 1),
                          Pair("cudaStreamSynchronize", 2)));
  EXPECT_CUDA_OK(cudaEventDestroy(event));
}

TEST_F(CostsTest, CopiesAreCountedByDirection) {
  std::vector<float> host(kCount);
  float* pinned = nullptr;
  EXPECT_CUDA_OK(cudaMallocHost(reinterpret_cast<void**>(&pinned), 40));
  ResetCosts();
  EXPECT_CUDA_OK(cudaMemcpy(data_, host.data(), kBytes, cudaMemcpyHostToDevice));
  EXPECT_CUDA_OK(cudaMemcpyAsync(data_, data_ + 20, 80, cudaMemcpyDeviceToDevice, stream_));
  EXPECT_CUDA_OK(cudaMemcpyAsync(pinned, data_, 40, cudaMemcpyDeviceToHost, stream_));
  EXPECT_THAT(GetCosts().waits, ElementsAre(Pair("cudaMemcpy", 1)));
  EXPECT_CUDA_OK(cudaMemcpyAsync(host.data(), data_, 8, cudaMemcpyDefault, stream_));
  const Costs costs = GetCosts();
  EXPECT_THAT(costs.waits, ElementsAre(Pair("cudaMemcpy", 1), Pair("cudaMemcpyAsync", 1)))
      << "memory that is not pinned has been written when the call returns";
  EXPECT_THAT(costs.copies, ElementsAre(Pair("device to device", IsBytes(1, 80)),
                                        Pair("device to host", IsBytes(2, 48)),
                                        Pair("host to device", IsBytes(1, kBytes))));
  EXPECT_THAT(costs.queued, ElementsAre(Pair("copy", 4)));
  EXPECT_CUDA_OK(cudaFreeHost(pinned));
}

TEST_F(CostsTest, AllocationsAreCounted) {
  void* data = nullptr;
  EXPECT_CUDA_OK(cudaMalloc(&data, 100));
  EXPECT_CUDA_OK(cudaFree(data));
  EXPECT_CUDA_OK(cudaMallocHost(&data, 10));
  EXPECT_CUDA_OK(cudaFreeHost(data));
  const Costs costs = GetCosts();
  EXPECT_THAT(costs.allocations, ElementsAre(Pair("cudaMalloc", IsBytes(1, 100)),
                                             Pair("cudaMallocHost", IsBytes(1, 10))));
  EXPECT_EQ(costs.frees, 2);
  EXPECT_THAT(costs.waits, ElementsAre(Pair("cudaFree", 1)));
}

}  // namespace
}  // namespace cooper::cuda_emulator
