#include "cuda_runtime.h"
#include "tests/cuda_emulator/tests/bugs.h"

namespace cooper {
namespace {

constexpr int kThreads = 64;

__global__ void NoBarrierKernel(const float* x, float* y) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

__global__ void PastTheEndKernel(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = x[i];
}

__global__ void CopyKernel(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void DivergentBarrierKernel(float* y) {
  if (threadIdx.x % 32 < 16) {
    __syncthreads();
    y[threadIdx.x] = 1;
  } else {
    y[threadIdx.x] = __shfl_sync(~0u, y[threadIdx.x], 1);
  }
}

__global__ void WrongMaskKernel(float* y) {
  y[threadIdx.x] = __shfl_down_sync(0xFFFF, y[threadIdx.x], 8);
}

__global__ void UnsetSharedKernel(float* y) {
  __shared__ float values[kThreads];
  if (threadIdx.x < 32) values[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x];
}

__global__ void DynamicSharedKernel(float* y) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void MisalignedKernel(float* y) {
  *reinterpret_cast<float4*>(y + threadIdx.x) = float4{1, 2, 3, 4};
}

__global__ void TrapKernel(float* y) {
  if (y[threadIdx.x] == 0) __trap();
}

cudaError_t Wait() {
  const cudaError_t error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace

cudaError_t NoBarrier(const float* x, float* y) {
  NoBarrierKernel<<<1, kThreads>>>(x, y);
  return Wait();
}

cudaError_t PastTheEnd(const float* x, float* y) {
  PastTheEndKernel<<<2, kThreads>>>(kThreads, x, y);
  return Wait();
}

cudaError_t NotInRange(const float* x, float* y) {
  CopyKernel<<<1, kThreads>>>(x, y);
  return Wait();
}

cudaError_t DivergentBarrier(float* y) {
  DivergentBarrierKernel<<<1, kThreads>>>(y);
  return Wait();
}

cudaError_t WrongMask(float* y) {
  WrongMaskKernel<<<1, kThreads>>>(y);
  return Wait();
}

cudaError_t UnsetShared(float* y) {
  UnsetSharedKernel<<<1, kThreads>>>(y);
  return Wait();
}

cudaError_t PastShared(float* y) {
  DynamicSharedKernel<<<1, kThreads, kThreads / 2 * sizeof(float)>>>(y);
  return Wait();
}

cudaError_t Misaligned(float* y) {
  MisalignedKernel<<<1, kThreads / 4>>>(y);
  return Wait();
}

cudaError_t Trap(float* y) {
  TrapKernel<<<1, kThreads>>>(y);
  return Wait();
}

cudaError_t TooManyThreads(float* y) {
  CopyKernel<<<1, 2048>>>(y, y);
  return Wait();
}

cudaError_t TooMuchShared(float* y) {
  DynamicSharedKernel<<<1, kThreads, 64 << 10>>>(y);
  return Wait();
}

}  // namespace cooper
