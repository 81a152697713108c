#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_DEVICE_LAUNCH_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_DEVICE_LAUNCH_H_

// cudaLaunchKernelEx that keeps the type of the kernel. The toolkit's passes an address on, to a
// runtime that knows from the device's code what parameters there are.

#include <functional>
#include <tuple>
#include <utility>

#include "cuda_runtime.h"

namespace cooper::cuda_emulator {

// Checks and queues a launch of `kernel`, each thread of which runs `thread`.
cudaError_t LaunchOnHost(const cudaLaunchConfig_t& config, const void* kernel,
                         std::function<void()> thread);

// Queues work of the device that no kernel does, such as that of a library.
cudaError_t QueueOnHost(const char* name, cudaStream_t stream, std::function<void()> work);

// The arguments are converted to the kernel's parameters at the call.
template <typename... P, typename... A>
cudaError_t LaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                           A&&... arguments) {
  return LaunchOnHost(
      *config, reinterpret_cast<const void*>(kernel),
      [kernel, parameters = std::tuple<P...>(static_cast<P>(std::forward<A>(arguments))...)] {
        std::apply(kernel, parameters);
      });
}

}  // namespace cooper::cuda_emulator

#define cudaLaunchKernelEx ::cooper::cuda_emulator::LaunchKernelEx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_DEVICE_LAUNCH_H_
