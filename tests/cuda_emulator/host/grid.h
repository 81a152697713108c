#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_GRID_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_GRID_H_

// Runs the grid of a kernel that the host's compiler has compiled. Blocks run one after another.
// The threads of a block are fibers (fiber.h) that wait at barriers and warp collectives
// (thread.h); a thread runs until it waits or ends.

#include <cstdint>

#include "tests/cuda_emulator/host/host_launch.h"

namespace cooper::cuda_emulator {

// Runs all threads to their end. `seed` selects an order of blocks and threads; 0 is in order.
//
// Threads that wait for each other forever, or at different barriers, end the program with a
// message. Callers hold the ApiLock.
//
// ThreadSanitizer sees only barriers and collectives order the threads of a block. It sees blocks
// as unordered until a thread has waited, and as sequential from then on, because they share the
// same shared memory.
void RunGrid(const HostLaunch& launch, uint32_t seed);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_GRID_H_
