#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_RUN_KERNEL_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_RUN_KERNEL_H_

// A launch between its call, which checks it and copies its arguments, and the time when it runs in
// its stream. Callers hold the ApiLock.

#include <cstdint>
#include <vector>

#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/runtime/program.h"

namespace cooper::cuda_emulator {

// A checked launch with a copy of its arguments.
struct KernelRun {
  Kernel kernel;
  const ptx::Module* module = nullptr;
  int device = 0;
  ptx::Launch launch;
  std::vector<uint8_t> params;
};

// Checks a launch against the device's limits and the kernel's own, and copies its arguments. On an
// error calls Fail().
cudaError_t PrepareKernel(const void* host, ptx::Dim3 grid, ptx::Dim3 block,
                          uint64_t dynamic_shared, void** args, int device, KernelRun& run);

// Runs the kernel. Returns the error that a GPU would return; prints the cause, with kernel, block
// and thread, to stderr.
cudaError_t RunKernel(const KernelRun& run);

// Sets a kernel's resources, the most threads of a block, and the dynamic shared memory that has
// been allowed.
cudaError_t DescribeKernel(const void* host, ptx::Resources& resources, int& max_threads,
                           uint64_t& max_dynamic_shared);
cudaError_t AllowDynamicShared(const void* host, int64_t bytes);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_RUN_KERNEL_H_
