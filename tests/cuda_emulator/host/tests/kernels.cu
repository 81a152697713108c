#include "cuda_runtime.h"
#include "tests/cuda_emulator/host/tests/kernels.h"
#include "tests/cuda_emulator/host/tests/launch_kernel.h"
#include "tests/cuda_emulator/host/thread.h"

namespace cooper {
namespace {

constexpr int kThreads = 128;

__device__ void AddSumOver(int* sums, int n, const int* x, int* sum) {
  int own = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n);
       i += gridDim.x * blockDim.x) {
    own += x[i];
  }
  sums[threadIdx.x] = own;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, sums[0]);
}

__global__ void AddSumKernel(int n, const int* x, int* sum) {
  __shared__ int sums[kThreads];
  AddSumOver(sums, n, x, sum);
}

__global__ void AddSumDynamicKernel(int n, const int* x, int* sum) {
  AddSumOver(static_cast<int*>(cuda_emulator::DynamicShared()), n, x, sum);
}

__global__ void WarpKernel(WarpResults* out) {
  const int t = static_cast<int>(threadIdx.x);
  WarpResults& own = out[t];
  const unsigned mask = ~0u;
  own.indexed = __shfl_sync(mask, t, 3, 8);
  own.up = __shfl_up_sync(mask, t, 2, 16);
  own.down = __shfl_down_sync(mask, t, 1);
  own.exchange = __shfl_xor_sync(mask, t, 1);
  own.odd = __ballot_sync(mask, t % 2);
  own.any = __any_sync(mask, t == 40);
  own.all = __all_sync(mask, t < 64);
}

__global__ void AtomicsKernel(unsigned* out) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[0], 1);
  atomicMin(&out[1], number);
  atomicMax(&out[2], number);
  const unsigned before = atomicExch(&out[4], number);
  unsigned seen = 0, wanted = 0;
  do {
    wanted = seen;
    seen = atomicCAS(&out[3], wanted, wanted ^ before);
  } while (seen != wanted);
}

__device__ void Copy3(const uint3& from, unsigned* to) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

__global__ void IndicesKernel(Indices* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  Indices& own = out[block * blockDim.x * blockDim.y * blockDim.z + thread];
  Copy3(threadIdx, own.thread);
  Copy3(blockIdx, own.block);
  Copy3({blockDim.x, blockDim.y, blockDim.z}, own.block_shape);
  Copy3({gridDim.x, gridDim.y, gridDim.z}, own.grid_shape);
}

}  // namespace

cudaError_t AddSum(unsigned blocks, int n, bool dynamic, const int* x, int* sum) {
  if (dynamic) {
    return LaunchAndWait(blocks, kThreads, kThreads * sizeof(int), AddSumDynamicKernel, n, x, sum);
  }
  return LaunchAndWait(blocks, kThreads, 0, AddSumKernel, n, x, sum);
}

cudaError_t CallWarp(unsigned threads, WarpResults* out) {
  return LaunchAndWait(1, threads, 0, WarpKernel, out);
}

cudaError_t CallAtomics(unsigned blocks, unsigned threads, unsigned* out) {
  return LaunchAndWait(blocks, threads, 0, AtomicsKernel, out);
}

cudaError_t WriteIndices(dim3 grid, dim3 block, Indices* out) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  return cudaLaunchKernelEx(&config, IndicesKernel, out);
}

}  // namespace cooper
