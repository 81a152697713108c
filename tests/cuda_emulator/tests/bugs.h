#ifndef COOPER_TESTS_CUDA_EMULATOR_TESTS_BUGS_H_
#define COOPER_TESTS_CUDA_EMULATOR_TESTS_BUGS_H_

// Kernels with one bug each, some of which need wrong arguments to show it.

#include "cuda_runtime_api.h"

namespace cooper {

// Each function launches one kernel over 64 floats, and waits for it.
cudaError_t NoBarrier(const float* x, float* y);   // reads an element that another thread writes
cudaError_t PastTheEnd(const float* x, float* y);  // `<=` where `<` is meant
cudaError_t NotInRange(const float* x, float* y);  // reads x, whatever it points to
cudaError_t DivergentBarrier(float* y);            // half of a warp waits
cudaError_t WrongMask(float* y);                   // half of the running lanes are not in the mask
cudaError_t UnsetShared(float* y);                 // reads shared memory that was not written
cudaError_t PastShared(float* y);                  // uses more than the launch requests
cudaError_t Misaligned(float* y);                  // a float4 at 4 bytes
cudaError_t Trap(float* y);
cudaError_t TooManyThreads(float* y);  // 2048 in a block
cudaError_t TooMuchShared(float* y);   // 64 KiB without cudaFuncSetAttribute

}  // namespace cooper

#endif  // COOPER_TESTS_CUDA_EMULATOR_TESTS_BUGS_H_
