#include "tests/cuda_emulator/runtime/run_kernel.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/device_limits.h"
#include "tests/cuda_emulator/runtime/launch_shape.h"
#include "tests/cuda_emulator/runtime/memory_map.h"
#include "tests/cuda_emulator/runtime/peer_access.h"
#include "tests/cuda_emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

std::string Describe(const Kernel& kernel, const ptx::Launch& launch) {
  const ptx::Dim3 &g = launch.grid, &b = launch.block;
  return absl::StrCat(kernel.readable, " <<<(", g.x, ", ", g.y, ", ", g.z, "), (", b.x, ", ", b.y,
                      ", ", b.z, "), ", launch.dynamic_shared, ">>>");
}

cudaError_t ErrorOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return cudaSuccess;
    case absl::StatusCode::kOutOfRange:
      return cudaErrorIllegalAddress;
    case absl::StatusCode::kInvalidArgument:
      return absl::StrContains(status.message(), "align") ? cudaErrorMisalignedAddress
                                                          : cudaErrorLaunchFailure;
    case absl::StatusCode::kDeadlineExceeded:
      return cudaErrorLaunchTimeout;
    case absl::StatusCode::kUnimplemented:
      return cudaErrorNotSupported;
    case absl::StatusCode::kAborted:
      return cudaErrorAssert;
    default:
      return cudaErrorLaunchFailure;
  }
}

// Returns the kernel of `host` with its module loaded; null after Fail().
Kernel* LoadKernel(const void* host, const ptx::Module** module, const ptx::Function** function) {
  Kernel* kernel = FindKernel(host);
  if (kernel == nullptr) {
    Fail(cudaErrorInvalidDeviceFunction, "no kernel was registered under a function's address");
    return nullptr;
  }
  absl::StatusOr<const ptx::Module*> loaded = kernel->binary->Load();
  if (!loaded.ok()) {
    Fail(cudaErrorNoKernelImageForDevice,
         absl::StrCat(kernel->readable, ": ", loaded.status().message()));
    return nullptr;
  }
  *module = *loaded;
  *function = (*loaded)->FindFunction(kernel->name);
  if (*function == nullptr) {
    Fail(cudaErrorInvalidDeviceFunction, absl::StrCat("the PTX has no kernel ", kernel->readable));
    return nullptr;
  }
  return kernel;
}

int MaxThreads(const ptx::Function& function) {
  return function.max_threads == 0 ? kThreadsPerBlock
                                   : std::min(kThreadsPerBlock, function.max_threads);
}

}  // namespace

cudaError_t PrepareKernel(const void* host, ptx::Dim3 grid, ptx::Dim3 block,
                          uint64_t dynamic_shared, void** args, int device, KernelRun& run) {
  const ptx::Function* function = nullptr;
  const Kernel* kernel = LoadKernel(host, &run.module, &function);
  if (kernel == nullptr) return PeekLastError();
  run.kernel = *kernel;
  run.device = device;
  run.launch = {.grid = grid, .block = block, .dynamic_shared = dynamic_shared};
  const std::string wrong =
      CheckShape({grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, MaxThreads(*function));
  if (!wrong.empty()) {
    return Fail(cudaErrorInvalidConfiguration,
                absl::StrCat(Describe(*kernel, run.launch), ": ", wrong));
  }
  absl::StatusOr<ptx::Resources> resources = run.module->Describe(kernel->name);
  if (!resources.ok()) {
    return Fail(ErrorOf(resources.status()),
                absl::StrCat(kernel->readable, ": ", resources.status().message()));
  }
  run.launch.shared_limit =
      std::max(kSharedPerBlock, resources->shared_bytes + kernel->max_dynamic_shared);
  if (resources->shared_bytes + dynamic_shared > run.launch.shared_limit) {
    return Fail(
        cudaErrorInvalidValue,
        absl::StrCat(Describe(*kernel, run.launch), ": ", resources->shared_bytes + dynamic_shared,
                     " bytes of shared memory, where ", run.launch.shared_limit, " are allowed"));
  }
  run.params.resize(function->param_bytes);
  for (size_t i = 0; i < function->params.size(); ++i) {
    const ptx::Param& param = function->params[i];
    std::memcpy(run.params.data() + param.offset, args[i], param.size);
  }
  return cudaSuccess;
}

cudaError_t RunKernel(const KernelRun& run) {
  const Settings& settings = GetSettings();
  absl::StatusOr<absl::Span<const uint64_t>> variables = run.kernel.binary->Place(run.device);
  if (!variables.ok()) return Fail(cudaErrorMemoryAllocation, variables.status().message());
  ptx::Launch launch = run.launch;
  launch.variables = *variables;
  uint64_t missed = 0;  // the last address outside of all allocations
  const auto find_extent = [&](uint64_t address) {
    const Allocation* there = MemoryMap::Get().Find(address);
    if (there != nullptr &&
        (there->kind != MemoryKind::kDevice || HasPeerAccess(run.device, there->device))) {
      return ptx::Extent{there->begin, there->end()};
    }
    missed = address;
    return ptx::Extent{};
  };
  ptx::Options options;
  options.seed = settings.seed;
  options.race_check = settings.race_check;
  options.unset_check = settings.unset_check;
  options.slice = settings.slice;
  options.max_instructions = settings.max_instructions;
  options.count_transactions = CountsTransactions();
  options.cache = TheCache();
  ptx::Counters counters;
  const absl::Status status =
      ptx::Run(*run.module, run.kernel.name, launch, run.params, find_extent, options, &counters);
  CountRun(run.kernel.readable, counters);
  if (settings.trace || !status.ok()) {
    std::fprintf(stderr, "cuda emulator: device %d: %s: %lld instructions\n", run.device,
                 Describe(run.kernel, launch).c_str(),
                 static_cast<long long>(counters.instructions));
  }
  if (status.ok()) return cudaSuccess;
  std::string message = absl::StrCat("  ", status.message());
  if (status.code() == absl::StatusCode::kOutOfRange && missed != 0) {
    absl::StrAppend(&message, "; 0x", absl::Hex(missed), " is ", MemoryMap::Get().Describe(missed));
  }
  return Fail(ErrorOf(status), message);
}

cudaError_t DescribeKernel(const void* host, ptx::Resources& resources, int& max_threads,
                           uint64_t& max_dynamic_shared) {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  const Kernel* kernel = LoadKernel(host, &module, &function);
  if (kernel == nullptr) return PeekLastError();
  absl::StatusOr<ptx::Resources> described = module->Describe(kernel->name);
  if (!described.ok()) {
    return Fail(ErrorOf(described.status()),
                absl::StrCat(kernel->readable, ": ", described.status().message()));
  }
  resources = *described;
  max_threads = MaxThreads(*function);
  max_dynamic_shared = kernel->max_dynamic_shared;
  return cudaSuccess;
}

cudaError_t AllowDynamicShared(const void* host, int64_t bytes) {
  Kernel* kernel = FindKernel(host);
  if (kernel == nullptr) {
    return Fail(cudaErrorInvalidDeviceFunction, "cudaFuncSetAttribute: no such kernel");
  }
  if (bytes < 0 || static_cast<uint64_t>(bytes) > kSharedPerBlockOptin) {
    return Fail(cudaErrorInvalidValue,
                absl::StrCat("cudaFuncSetAttribute: ", bytes, " bytes of shared memory, where ",
                             kSharedPerBlockOptin, " are the most"));
  }
  kernel->max_dynamic_shared = static_cast<uint64_t>(bytes);
  return cudaSuccess;
}

}  // namespace cooper::cuda_emulator
