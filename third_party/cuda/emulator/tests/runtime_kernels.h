#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_TESTS_RUNTIME_KERNELS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_TESTS_RUNTIME_KERNELS_H_

// Kernels for tests of the runtime.

#include "cuda_runtime_api.h"

namespace cooper {

// data[i] = data[i] * factor + term, for i < n.
void LaunchScale(int n, float factor, float term, float* data, cudaStream_t stream);

// data[0] is the sum of n floats, by blocks that need all of the shared memory that a device
// allows.
cudaError_t LaunchSum(int n, float* data, cudaStream_t stream);

// Adds n to a counter, a __device__ variable that starts as 40, and reads it.
void LaunchCount(int n);
cudaError_t ReadCounter(int* value);

// What the occupancy calls and cudaFuncGetAttributes say of the kernel of LaunchScale().
cudaError_t DescribeScale(cudaFuncAttributes* attributes, int threads, int* blocks);

}  // namespace cooper

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_TESTS_RUNTIME_KERNELS_H_
