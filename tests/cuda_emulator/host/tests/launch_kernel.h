#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_LAUNCH_KERNEL_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_LAUNCH_KERNEL_H_

// Launches a kernel on the default stream, for .cu files.

#include <cstddef>
#include <utility>

#include "cuda_runtime.h"

namespace cooper {

// Launches with `shared` bytes of dynamic shared memory, and waits for the kernel.
template <typename... P, typename... A>
cudaError_t LaunchAndWait(unsigned blocks, unsigned threads, size_t shared, void (*kernel)(P...),
                          A&&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...);
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace cooper

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_LAUNCH_KERNEL_H_
