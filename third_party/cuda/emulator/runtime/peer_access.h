#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_PEER_ACCESS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_PEER_ACCESS_H_

// Which devices reach the memory of which. Callers hold the ApiLock.

namespace cooper::cuda_emulator {

// Whether kernels and copies of `device` reach the memory of `other`.
bool HasPeerAccess(int device, int other);
void SetPeerAccess(int device, int other, bool allowed);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_PEER_ACCESS_H_
