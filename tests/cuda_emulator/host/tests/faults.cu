#include "cuda_runtime.h"
#include "tests/cuda_emulator/host/tests/faults.h"
#include "tests/cuda_emulator/host/tests/launch_kernel.h"
#include "tests/cuda_emulator/host/thread.h"

namespace cooper::host_shim {
namespace {

constexpr int kThreads = kFaultElements;

__global__ void MissingBarrierKernel(const float* x, float* y) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

__global__ void MissingSyncWarpKernel(const float* x, float* y) {
  __shared__ float values[32];
  values[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = values[threadIdx.x ^ 1];
  values[threadIdx.x] = y[threadIdx.x] + 1;  // while other threads read
}

__global__ void RaceOfBlocksKernel(float* y) { y[threadIdx.x] = static_cast<float>(blockIdx.x); }

__global__ void PastGlobalKernel(int n, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) y[i] = x[i];
}

__global__ void PastSharedKernel(int index, float* y) {
  __shared__ float values[kThreads];
  values[index + threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x];
}

__global__ void PastDynamicSharedKernel(float* y) {
  auto* values = static_cast<float*>(cuda_emulator::DynamicShared());
  values[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x];
}

__global__ void DividedBarrierKernel(float* y) {
  if (threadIdx.x < 40) {
    y[threadIdx.x] = 1;
    __syncthreads();
  } else {
    y[threadIdx.x] = 2;
    __syncthreads();
  }
}

__global__ void BarrierAndShuffleKernel(float* y) {
  if (threadIdx.x % 32 < 16) {
    __syncthreads();
    y[threadIdx.x] = 1;
  } else {
    y[threadIdx.x] = __shfl_sync(~0u, y[threadIdx.x], 1);
  }
}

__global__ void MaskWithoutCallerKernel(float* y) {
  y[threadIdx.x] = __shfl_down_sync(0xFFFF, y[threadIdx.x], 8);
}

__global__ void ShuffleFromOutsideKernel(float* y) {
  if (threadIdx.x % 32 < 16) y[threadIdx.x] = __shfl_down_sync(0xFFFF, y[threadIdx.x], 8);
}

__global__ void TrapKernel(float* y) {
  if (y[threadIdx.x] == 0) __trap();
}

__global__ void CopyKernel(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

}  // namespace

cudaError_t MissingBarrier(const float* x, float* y) {
  return LaunchAndWait(1, kThreads, 0, MissingBarrierKernel, x, y);
}

cudaError_t MissingSyncWarp(const float* x, float* y) {
  return LaunchAndWait(1, 32, 0, MissingSyncWarpKernel, x, y);
}

cudaError_t RaceOfBlocks(float* y) { return LaunchAndWait(2, kThreads, 0, RaceOfBlocksKernel, y); }

cudaError_t PastGlobal(const float* x, float* y) {
  return LaunchAndWait(2, kThreads, 0, PastGlobalKernel, kThreads, x, y);
}

cudaError_t PastShared(int index, float* y) {
  return LaunchAndWait(1, kThreads, 0, PastSharedKernel, index, y);
}

cudaError_t PastDynamicShared(float* y) {
  return LaunchAndWait(1, kThreads, (kThreads - 1) * sizeof(float), PastDynamicSharedKernel, y);
}

cudaError_t DividedBarrier(float* y) {
  return LaunchAndWait(1, kThreads, 0, DividedBarrierKernel, y);
}

cudaError_t BarrierAndShuffle(float* y) {
  return LaunchAndWait(1, kThreads, 0, BarrierAndShuffleKernel, y);
}

cudaError_t MaskWithoutCaller(float* y) {
  return LaunchAndWait(1, kThreads, 0, MaskWithoutCallerKernel, y);
}

cudaError_t ShuffleFromOutside(float* y) {
  return LaunchAndWait(1, kThreads, 0, ShuffleFromOutsideKernel, y);
}

cudaError_t Trap(float* y) { return LaunchAndWait(1, kThreads, 0, TrapKernel, y); }

cudaError_t TooManyThreads(float* y) { return LaunchAndWait(1, 2048, 0, TrapKernel, y); }

cudaError_t NoBlocks(float* y) { return LaunchAndWait(0, kThreads, 0, TrapKernel, y); }

cudaError_t TooMuchShared(float* y) { return LaunchAndWait(1, kThreads, 64 << 10, TrapKernel, y); }

cudaError_t CopyElements(const float* x, float* y) {
  return LaunchAndWait(1, kThreads, 0, CopyKernel, x, y);
}

}  // namespace cooper::host_shim
