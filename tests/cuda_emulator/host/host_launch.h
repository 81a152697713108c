#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_HOST_LAUNCH_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_HOST_LAUNCH_H_

// One launch of a kernel that the host's compiler has compiled.

#include <cstddef>
#include <functional>
#include <string>

#include "vector_types.h"

namespace cooper::cuda_emulator {

// The shape of a launch and the function of its threads.
struct HostLaunch {
  std::string kernel;  // its name, for messages
  dim3 grid;
  dim3 block;                    // at most 1024 threads
  size_t dynamic_shared = 0;     // bytes
  std::function<void()> thread;  // run by each thread of the grid
};

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_HOST_LAUNCH_H_
