#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_LAUNCH_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_LAUNCH_H_

// A cudaLaunchKernelEx that keeps the kernel's type. The toolkit's passes an address to a runtime
// that reads the parameters' types from the device code.

#include <functional>
#include <tuple>
#include <utility>

#include "cuda_runtime.h"

namespace cooper::cuda_emulator {

// Checks and queues a launch of `kernel`. Each thread of the grid runs `thread`.
cudaError_t LaunchOnHost(const cudaLaunchConfig_t& config, const void* kernel,
                         std::function<void()> thread);

// Queues device work that is not a kernel, such as a library call.
cudaError_t QueueOnHost(const char* name, cudaStream_t stream, std::function<void()> work);

// Converts the arguments to the kernel's parameters at the call, and queues the launch.
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

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_LAUNCH_H_
