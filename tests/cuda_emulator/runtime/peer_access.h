#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_PEER_ACCESS_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_PEER_ACCESS_H_

// Records which devices can access each other's memory. Callers hold the ApiLock.

namespace cooper::cuda_emulator {

// Returns whether kernels and copies of `device` can access the memory of `other`.
bool HasPeerAccess(int device, int other);
void SetPeerAccess(int device, int other, bool allowed);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_PEER_ACCESS_H_
