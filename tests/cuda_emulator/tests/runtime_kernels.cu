#include "cuda_runtime.h"
#include "tests/cuda_emulator/tests/runtime_kernels.h"

namespace cooper {
namespace {

constexpr int kThreads = 128;
constexpr int kSharedBytes = 200 << 10;

__device__ int counter = 40;

__global__ void Scale(int n, float factor, float term, float* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + term;
}

__global__ void Sum(int n, float* data) {
  extern __shared__ float sums[];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data[i];
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) data[0] = sums[0];
}

__global__ void Count() { atomicAdd(&counter, 1); }

}  // namespace

void LaunchScale(int n, float factor, float term, float* data, cudaStream_t stream) {
  Scale<<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(n, factor, term, data);
}

cudaError_t LaunchSum(int n, float* data, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(Sum, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  Sum<<<1, kThreads, kSharedBytes, stream>>>(n, data);
  return cudaGetLastError();
}

void LaunchCount(int n) { Count<<<1, n>>>(); }

cudaError_t ReadCounter(int* value) { return cudaMemcpyFromSymbol(value, counter, sizeof(int)); }

cudaError_t DescribeScale(cudaFuncAttributes* attributes, int threads, int* blocks) {
  const cudaError_t error = cudaFuncGetAttributes(attributes, Scale);
  if (error != cudaSuccess) return error;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, Scale, threads, 0);
}

}  // namespace cooper
