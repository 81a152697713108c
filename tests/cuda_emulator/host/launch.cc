// Launches kernels that the host's compiler has compiled.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/debugging/symbolize.h"
#include "absl/strings/str_cat.h"
#include "cuda_runtime.h"
#include "tests/cuda_emulator/host/device_launch.h"
#include "tests/cuda_emulator/host/grid.h"
#include "tests/cuda_emulator/host/host_launch.h"
#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/device_limits.h"
#include "tests/cuda_emulator/runtime/launch_shape.h"
#include "tests/cuda_emulator/runtime/settings.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

// Returns the bytes of dynamic shared memory that cudaFuncSetAttribute has allowed, by kernel.
std::map<const void*, size_t>& AllowedDynamicShared() {
  static auto* allowed = new std::map<const void*, size_t>;
  return *allowed;
}

// Returns the kernel's name in the program's symbols. Searches them once for each kernel.
const std::string& NameOf(const void* kernel) {
  static auto* names = new std::map<const void*, std::string>;
  std::string& name = (*names)[kernel];
  if (name.empty()) {
    char symbol[512];
    name = absl::Symbolize(kernel, symbol, sizeof(symbol)) ? symbol : "a kernel";
  }
  return name;
}

std::string Describe(const HostLaunch& launch) {
  const dim3 &g = launch.grid, &b = launch.block;
  return absl::StrCat(launch.kernel, " <<<(", g.x, ", ", g.y, ", ", g.z, "), (", b.x, ", ", b.y,
                      ", ", b.z, "), ", launch.dynamic_shared, ">>>");
}

cudaError_t Check(const HostLaunch& launch, const cudaLaunchConfig_t& config, const void* kernel) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      return Fail(cudaErrorNotSupported, "cudaLaunchKernelEx: clusters are not supported");
    }
  }
  const std::string wrong = CheckShape(launch.grid, launch.block, kThreadsPerBlock);
  if (!wrong.empty()) {
    return Fail(cudaErrorInvalidConfiguration, absl::StrCat(Describe(launch), ": ", wrong));
  }
  const size_t allowed = std::max<size_t>(kSharedPerBlock, AllowedDynamicShared()[kernel]);
  if (launch.dynamic_shared > allowed) {
    return Fail(cudaErrorInvalidValue,
                absl::StrCat(Describe(launch), ": ", launch.dynamic_shared,
                             " bytes of shared memory, where ", allowed, " are allowed"));
  }
  return cudaSuccess;
}

cudaError_t Run(const HostLaunch& launch, int device) {
  if (GetSettings().trace) {
    std::fprintf(stderr, "cuda emulator: device %d: %s\n", device, Describe(launch).c_str());
  }
  RunGrid(launch, GetSettings().seed);
  CountRun(launch.kernel, ptx::Counters());
  return cudaSuccess;
}

}  // namespace

cudaError_t LaunchOnHost(const cudaLaunchConfig_t& config, const void* kernel,
                         std::function<void()> thread) {
  const ApiLock lock;
  CUstream_st* stream = FindLaunchStream(config.stream);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  HostLaunch launch = {.kernel = NameOf(kernel),
                       .grid = config.gridDim,
                       .block = config.blockDim,
                       .dynamic_shared = config.dynamicSmemBytes,
                       .thread = std::move(thread)};
  const cudaError_t error = Check(launch, config, kernel);
  if (error != cudaSuccess) return error;
  const std::string name = launch.kernel;
  return Enqueue(*stream, {cudaGraphNodeTypeKernel, name,
                           [launch = std::move(launch), device = stream->device] {
                             return Run(launch, device);
                           }});
}

cudaError_t QueueOnHost(const char* name, cudaStream_t handle, std::function<void()> work) {
  const ApiLock lock;
  CUstream_st* stream = FindLaunchStream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return Enqueue(*stream, {cudaGraphNodeTypeKernel, name, [name, work = std::move(work)] {
                             work();
                             CountRun(name, ptx::Counters());
                             return cudaSuccess;
                           }});
}

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const ApiLock lock;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;  // a hint
  if (value < 0 || static_cast<uint64_t>(value) > kSharedPerBlockOptin) {
    return Fail(cudaErrorInvalidValue,
                absl::StrCat("cudaFuncSetAttribute: ", value, " bytes of shared memory, where ",
                             kSharedPerBlockOptin, " are the most"));
  }
  AllowedDynamicShared()[kernel] = static_cast<size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

}  // extern "C"
}  // namespace cooper::cuda_emulator
