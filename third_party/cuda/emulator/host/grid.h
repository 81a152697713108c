#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_GRID_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_GRID_H_

// Runs the grid of a kernel that the host's compiler has compiled: blocks one after the other, the
// threads of a block as fibers (fiber.h) that wait at barriers and in collectives of warps
// (thread.h). A thread runs until it waits or ends.

#include <cstdint>

#include "third_party/cuda/emulator/host/host_launch.h"

namespace cooper::cuda_emulator {

// Runs all threads to their end. `seed` is another order of blocks and threads; 0 is in order.
//
// Threads that wait for one another for ever, or at different barriers, end the program with a
// message. Callers hold the ApiLock.
//
// ThreadSanitizer sees the threads of a block as ordered by barriers and collectives alone, and
// blocks as unordered, until a thread has waited: from then on blocks come one after the other for
// it, since they use the same shared memory.
void RunGrid(const HostLaunch& launch, uint32_t seed);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_GRID_H_
