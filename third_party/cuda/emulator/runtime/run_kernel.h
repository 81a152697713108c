#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_RUN_KERNEL_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_RUN_KERNEL_H_

// A launch between its call, which checks it and takes its arguments, and its turn in the stream,
// when it runs. Callers hold the ApiLock.

#include <cstdint>
#include <vector>

#include "cuda_runtime_api.h"
#include "third_party/cuda/emulator/ptx/module.h"
#include "third_party/cuda/emulator/ptx/run.h"
#include "third_party/cuda/emulator/runtime/program.h"

namespace cooper::cuda_emulator {

struct KernelRun {
  Kernel kernel;
  const ptx::Module* module = nullptr;
  int device = 0;
  ptx::Launch launch;
  std::vector<uint8_t> params;
};

// Checks a launch against the device's limits and the kernel's own, and copies its arguments. After
// an error Fail() has been called.
cudaError_t PrepareKernel(const void* host, ptx::Dim3 grid, ptx::Dim3 block,
                          uint64_t dynamic_shared, void** args, int device, KernelRun& run);

// The error that a GPU would give; on stderr the mistake, with kernel, block and thread.
cudaError_t RunKernel(const KernelRun& run);

// What a kernel needs, how many threads a block of it may have, and how much dynamic shared memory
// was asked for.
cudaError_t DescribeKernel(const void* host, ptx::Resources& resources, int& max_threads,
                           uint64_t& max_dynamic_shared);
cudaError_t AllowDynamicShared(const void* host, int64_t bytes);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_RUN_KERNEL_H_
