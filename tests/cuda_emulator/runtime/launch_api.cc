// Calls that launch kernels and query their attributes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/device_limits.h"
#include "tests/cuda_emulator/runtime/run_kernel.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

// The <<<>>> arguments of a launch, between the calls that nvcc generates for it.
struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
};

std::vector<CallConfiguration>& CallConfigurations() {
  thread_local std::vector<CallConfiguration> configurations;
  return configurations;
}

cudaError_t LaunchKernel(const void* host, dim3 grid, dim3 block, void** args, size_t shared,
                         cudaStream_t stream_handle) {
  const ApiLock lock;
  CUstream_st* stream = FindLaunchStream(stream_handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  KernelRun run;
  const cudaError_t error =
      PrepareKernel(host, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, args,
                    stream->device, run);
  if (error != cudaSuccess) return error;
  const std::string name = run.kernel.readable;
  return Enqueue(
      *stream, {cudaGraphNodeTypeKernel, name, [run = std::move(run)] { return RunKernel(run); }});
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  CallConfigurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (CallConfigurations().empty()) {
    return Fail(cudaErrorIllegalState, "a launch without its configuration");
  }
  const CallConfiguration configuration = CallConfigurations().back();
  CallConfigurations().pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}

// A kernel's handle is its address on the host.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t stream) {
  return LaunchKernel(kernel, grid, block, args, shared, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                    size_t shared, cudaStream_t stream) {
  return LaunchKernel(kernel, grid, block, args, shared,
                      stream == nullptr ? cudaStreamPerThread : stream);
}

cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** args, size_t shared,
                             cudaStream_t stream) {
  return LaunchKernel(host, grid, block, args, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** args,
                                        size_t shared, cudaStream_t stream) {
  return LaunchKernel(host, grid, block, args, shared, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host, void** args) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      return Fail(cudaErrorNotSupported, "cudaLaunchKernelExC: clusters are not supported");
    }
  }
  return LaunchKernel(host, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                      config->stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  const ApiLock lock;
  ptx::Resources resources;
  int max_threads = 0;
  uint64_t max_dynamic_shared = 0;
  const cudaError_t error = DescribeKernel(host, resources, max_threads, max_dynamic_shared);
  if (error != cudaSuccess) return error;
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->sharedSizeBytes = resources.shared_bytes;
  attributes->localSizeBytes = resources.local_bytes;
  attributes->maxThreadsPerBlock = max_threads;
  attributes->numRegs = std::clamp(resources.registers, 16, 255);
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(std::max(
      max_dynamic_shared, kSharedPerBlock - std::min(kSharedPerBlock, resources.shared_bytes)));
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  const ApiLock lock;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;  // a hint
  return AllowDynamicShared(host, value);
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host,
                                                                   int threads, size_t dynamic,
                                                                   unsigned) {
  const ApiLock lock;
  ptx::Resources resources;
  int max_threads = 0;
  uint64_t unused = 0;
  const cudaError_t error = DescribeKernel(host, resources, max_threads, unused);
  if (error != cudaSuccess) return error;
  if (threads <= 0) return Fail(cudaErrorInvalidValue, "occupancy of a block without threads");
  const uint64_t shared = resources.shared_bytes + dynamic + kSharedReserved;
  *blocks = threads > max_threads
                ? 0
                : static_cast<int>(std::min<uint64_t>(
                      {kBlocksPerMultiprocessor, uint64_t{kThreadsPerMultiprocessor} / threads,
                       kSharedPerMultiprocessor / shared}));
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                          int threads, size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic, 0);
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
