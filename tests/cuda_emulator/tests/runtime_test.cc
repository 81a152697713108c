// Tests the emulated runtime as a program uses it: memory, streams, events, graphs, two devices.
// Work runs only when something waits for it, so that its order matters.

#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "cuda_runtime.h"
#include "gtest/gtest.h"
#include "tests/cuda_emulator/tests/runtime_kernels.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kSet = [] {
  setenv("COOPER_CUDA_EMULATOR_LAZY", "1", 1);
  setenv("COOPER_CUDA_EMULATOR_RACE_CHECK", "1", 1);
  setenv("COOPER_CUDA_EMULATOR_DEVICES", "2", 1);
  setenv("COOPER_CUDA_EMULATOR_MEMORY", "1000000", 1);
  return true;
}();

constexpr int kCount = 200;
constexpr size_t kBytes = kCount * sizeof(float);

#define EXPECT_CUDA_OK(call) EXPECT_EQ(call, cudaSuccess)

// Floats on the current device, all with one value.
class DeviceFloats {
 public:
  explicit DeviceFloats(float value) {
    EXPECT_CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&data_), kBytes));
    const std::vector<float> host(kCount, value);
    EXPECT_CUDA_OK(cudaMemcpy(data_, host.data(), kBytes, cudaMemcpyHostToDevice));
  }
  ~DeviceFloats() { EXPECT_CUDA_OK(cudaFree(data_)); }
  float* data() const { return data_; }

  // Waits for the default stream and the streams that it waits for, and returns the last value.
  float last() const {
    float value = 0;
    EXPECT_CUDA_OK(cudaMemcpy(&value, data_ + kCount - 1, sizeof(float), cudaMemcpyDeviceToHost));
    return value;
  }

 private:
  float* data_ = nullptr;
};

// A stream for which the default stream does not wait.
class Stream {
 public:
  Stream() { EXPECT_CUDA_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { EXPECT_CUDA_OK(cudaStreamDestroy(stream_)); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class RuntimeTest : public testing::Test {
 protected:
  ~RuntimeTest() override { EXPECT_CUDA_OK(cudaDeviceSynchronize()); }
};

TEST_F(RuntimeTest, KernelsSeeOneAnother) {
  const DeviceFloats x(1);
  LaunchScale(kCount, 2, 1, x.data(), nullptr);
  LaunchScale(kCount, 10, 0, x.data(), nullptr);
  EXPECT_EQ(x.last(), 30);
}

TEST_F(RuntimeTest, WorkOfAnotherStreamHasNotRunUntilItIsWaitedFor) {
  const DeviceFloats x(1);
  const Stream stream;
  LaunchScale(kCount, 2, 0, x.data(), stream.get());
  EXPECT_EQ(x.last(), 1);
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
  EXPECT_CUDA_OK(cudaStreamSynchronize(stream.get()));
  EXPECT_CUDA_OK(cudaStreamQuery(stream.get()));
  EXPECT_EQ(x.last(), 2);
}

TEST_F(RuntimeTest, TheDefaultStreamWaitsForBlockingStreams) {
  const DeviceFloats x(1);
  cudaStream_t stream = nullptr;
  EXPECT_CUDA_OK(cudaStreamCreate(&stream));
  LaunchScale(kCount, 2, 0, x.data(), stream);
  EXPECT_EQ(x.last(), 2);
  EXPECT_CUDA_OK(cudaStreamDestroy(stream));
}

TEST_F(RuntimeTest, AnEventHoldsWhatWasQueuedBeforeIt) {
  const DeviceFloats x(1);
  const Stream first, second;
  cudaEvent_t event = nullptr;
  EXPECT_CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  LaunchScale(kCount, 2, 0, x.data(), first.get());
  EXPECT_CUDA_OK(cudaEventRecord(event, first.get()));
  LaunchScale(kCount, 1, 100, x.data(), first.get());
  EXPECT_CUDA_OK(cudaStreamWaitEvent(second.get(), event, 0));
  LaunchScale(kCount, 1, 1, x.data(), second.get());
  EXPECT_CUDA_OK(cudaStreamSynchronize(second.get()));
  EXPECT_EQ(x.last(), 3);
  EXPECT_CUDA_OK(cudaStreamSynchronize(first.get()));
  EXPECT_EQ(x.last(), 103);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA_OK(cudaGetLastError());
  EXPECT_CUDA_OK(cudaEventDestroy(event));
}

TEST_F(RuntimeTest, PinnedMemoryIsReadInItsTurnAndOtherMemoryAtTheCall) {
  const DeviceFloats x(1), y(1);
  const Stream stream;
  float* pinned = nullptr;
  EXPECT_CUDA_OK(cudaMallocHost(reinterpret_cast<void**>(&pinned), kBytes));
  std::vector<float> pageable(kCount, 5);
  for (int i = 0; i < kCount; ++i) pinned[i] = 5;
  EXPECT_CUDA_OK(cudaMemcpyAsync(x.data(), pinned, kBytes, cudaMemcpyHostToDevice, stream.get()));
  EXPECT_CUDA_OK(
      cudaMemcpyAsync(y.data(), pageable.data(), kBytes, cudaMemcpyHostToDevice, stream.get()));
  for (int i = 0; i < kCount; ++i) pinned[i] = pageable[i] = 6;
  EXPECT_CUDA_OK(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(x.last(), 6);
  EXPECT_EQ(y.last(), 5);
  EXPECT_CUDA_OK(cudaFreeHost(pinned));
}

TEST_F(RuntimeTest, ManagedMemoryIsForBothSides) {
  float* x = nullptr;
  EXPECT_CUDA_OK(cudaMallocManaged(reinterpret_cast<void**>(&x), kBytes));
  for (int i = 0; i < kCount; ++i) x[i] = 3;
  LaunchScale(kCount, 2, 0, x, nullptr);
  EXPECT_CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(x[kCount - 1], 6);
  EXPECT_CUDA_OK(cudaFree(x));
}

TEST_F(RuntimeTest, SharedMemoryBeyondTheDefaultIsAllowedOnRequest) {
  const DeviceFloats x(2);
  EXPECT_CUDA_OK(LaunchSum(kCount, x.data(), nullptr));
  float sum = 0;
  EXPECT_CUDA_OK(cudaMemcpy(&sum, x.data(), sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT_EQ(sum, 2 * kCount);
}

TEST_F(RuntimeTest, EachDeviceHasItsOwnVariables) {
  int value = 0;
  LaunchCount(5);
  EXPECT_CUDA_OK(ReadCounter(&value));
  EXPECT_EQ(value, 45);
  EXPECT_CUDA_OK(cudaSetDevice(1));
  EXPECT_CUDA_OK(ReadCounter(&value));
  EXPECT_EQ(value, 40);
  EXPECT_CUDA_OK(cudaSetDevice(0));
}

TEST_F(RuntimeTest, CopiesBetweenDevices) {
  const DeviceFloats x(7);
  EXPECT_CUDA_OK(cudaSetDevice(1));
  {
    const DeviceFloats y(0);
    EXPECT_CUDA_OK(cudaMemcpyPeer(y.data(), 1, x.data(), 0, kBytes));
    EXPECT_EQ(y.last(), 7);
  }
  EXPECT_CUDA_OK(cudaSetDevice(0));
}

TEST_F(RuntimeTest, MemoryIsLimited) {
  size_t available = 0, total = 0;
  EXPECT_CUDA_OK(cudaMemGetInfo(&available, &total));
  EXPECT_EQ(total, 1000000);
  const size_t before = available;  // variables of device code use some
  EXPECT_LE(before, total);
  void* x = nullptr;
  EXPECT_EQ(cudaMalloc(&x, before + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(x, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_CUDA_OK(cudaMalloc(&x, before));
  EXPECT_CUDA_OK(cudaMemGetInfo(&available, &total));
  EXPECT_EQ(available, 0);
  EXPECT_CUDA_OK(cudaFree(x));
}

TEST_F(RuntimeTest, KernelsAreDescribed) {
  cudaFuncAttributes attributes;
  int blocks = 0;
  EXPECT_CUDA_OK(DescribeScale(&attributes, 256, &blocks));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.sharedSizeBytes, 0);
  EXPECT_EQ(blocks, 8);
}

// Captures data = (data * 2 + 1), then, in another stream that joins, * 3.
cudaGraph_t CaptureTwoStreams(float term, float* data, cudaStream_t first, cudaStream_t second) {
  cudaEvent_t forked = nullptr, joined = nullptr;
  EXPECT_CUDA_OK(cudaEventCreate(&forked));
  EXPECT_CUDA_OK(cudaEventCreate(&joined));
  EXPECT_CUDA_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  LaunchScale(kCount, 2, term, data, first);
  EXPECT_CUDA_OK(cudaEventRecord(forked, first));
  EXPECT_CUDA_OK(cudaStreamWaitEvent(second, forked, 0));
  LaunchScale(kCount, 3, 0, data, second);
  EXPECT_CUDA_OK(cudaEventRecord(joined, second));
  EXPECT_CUDA_OK(cudaStreamWaitEvent(first, joined, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA_OK(cudaStreamEndCapture(first, &graph));
  EXPECT_CUDA_OK(cudaEventDestroy(forked));
  EXPECT_CUDA_OK(cudaEventDestroy(joined));
  return graph;
}

TEST_F(RuntimeTest, GraphsRunWhatWasCapturedAndTakeUpdates) {
  const DeviceFloats x(1);
  const Stream first, second;
  cudaGraph_t graph = CaptureTwoStreams(1, x.data(), first.get(), second.get());
  ASSERT_NE(graph, nullptr);
  size_t nodes = 0;
  EXPECT_CUDA_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2);
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_CUDA_OK(cudaStreamSynchronize(first.get()));
  EXPECT_EQ(x.last(), 1) << "a capture runs nothing";
  EXPECT_CUDA_OK(cudaGraphLaunch(exec, first.get()));
  EXPECT_CUDA_OK(cudaGraphLaunch(exec, first.get()));
  EXPECT_CUDA_OK(cudaStreamSynchronize(first.get()));
  EXPECT_EQ(x.last(), ((1 * 2 + 1) * 3 * 2 + 1) * 3);

  const DeviceFloats y(1);
  graph = CaptureTwoStreams(5, y.data(), first.get(), second.get());
  cudaGraphExecUpdateResultInfo info;
  EXPECT_CUDA_OK(cudaGraphExecUpdate(exec, graph, &info));
  EXPECT_CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_CUDA_OK(cudaGraphLaunch(exec, first.get()));
  EXPECT_CUDA_OK(cudaStreamSynchronize(first.get()));
  EXPECT_EQ(y.last(), (1 * 2 + 5) * 3);
  EXPECT_CUDA_OK(cudaGraphExecDestroy(exec));
}

TEST_F(RuntimeTest, AnUpdateOfOtherTopologyFails) {
  const DeviceFloats x(1);
  const Stream first, second;
  cudaGraph_t graph = CaptureTwoStreams(1, x.data(), first.get(), second.get());
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_CUDA_OK(cudaStreamBeginCapture(first.get(), cudaStreamCaptureModeGlobal));
  LaunchScale(kCount, 2, 0, x.data(), first.get());
  EXPECT_CUDA_OK(cudaStreamEndCapture(first.get(), &graph));
  cudaGraphExecUpdateResultInfo info;
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGetLastError(), cudaErrorGraphExecUpdateFailure);
  EXPECT_CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_CUDA_OK(cudaGraphExecDestroy(exec));
}

TEST_F(RuntimeTest, ACaptureIsBrokenByWhatWaits) {
  const Stream stream;
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA_OK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_CUDA_OK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  void* x = nullptr;
  EXPECT_EQ(cudaMalloc(&x, 1), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(RuntimeTest, ACaptureOfAThreadLeavesOthersFree) {
  const Stream stream;
  cudaGraph_t graph = nullptr;
  for (const bool local : {true, false}) {
    EXPECT_CUDA_OK(cudaStreamBeginCapture(
        stream.get(), local ? cudaStreamCaptureModeThreadLocal : cudaStreamCaptureModeGlobal));
    std::thread([&] {
      void* x = nullptr;
      EXPECT_EQ(cudaMalloc(&x, 1), local ? cudaSuccess : cudaErrorStreamCaptureUnsupported);
      EXPECT_EQ(cudaFree(x), cudaSuccess);
      EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureWrongThread);
    }).join();
    EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph),
              local ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
    if (local) {
      EXPECT_CUDA_OK(cudaGraphDestroy(graph));
    }
  }
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(RuntimeTest, ACaptureHasToBeJoined) {
  const DeviceFloats x(1);
  const Stream first, second;
  cudaEvent_t event = nullptr;
  EXPECT_CUDA_OK(cudaEventCreate(&event));
  EXPECT_CUDA_OK(cudaStreamBeginCapture(first.get(), cudaStreamCaptureModeGlobal));
  EXPECT_CUDA_OK(cudaEventRecord(event, first.get()));
  EXPECT_CUDA_OK(cudaStreamWaitEvent(second.get(), event, 0));
  LaunchScale(kCount, 3, 0, x.data(), second.get());
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(first.get(), &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnjoined);
  EXPECT_CUDA_OK(cudaEventDestroy(event));
}

}  // namespace
}  // namespace cooper
