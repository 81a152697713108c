#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_TESTS_BUGS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_TESTS_BUGS_H_

// Kernels with one mistake each, and what has to be wrong with a launch to see it.

#include "cuda_runtime_api.h"

namespace cooper {

// Each launches one kernel over 64 floats, and waits for it.
cudaError_t NoBarrier(const float* x, float* y);   // reads what another thread writes
cudaError_t PastTheEnd(const float* x, float* y);  // `<=` where `<` is meant
cudaError_t NotInRange(const float* x, float* y);  // reads x wherever that points to
cudaError_t DivergentBarrier(float* y);            // half of a warp waits
cudaError_t WrongMask(float* y);                   // half of the lanes that run are not in it
cudaError_t UnsetShared(float* y);                 // reads what nothing has written
cudaError_t PastShared(float* y);                  // more than the launch asks for
cudaError_t Misaligned(float* y);                  // a float4 at 4 bytes
cudaError_t Trap(float* y);
cudaError_t TooManyThreads(float* y);  // 2048 in a block
cudaError_t TooMuchShared(float* y);   // 64 KiB without being allowed it

}  // namespace cooper

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_TESTS_BUGS_H_
