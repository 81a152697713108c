#ifndef COOPER_TESTS_CUDA_EMULATOR_TESTS_RUNTIME_KERNELS_H_
#define COOPER_TESTS_CUDA_EMULATOR_TESTS_RUNTIME_KERNELS_H_

// Kernels for tests of the runtime.

#include "cuda_runtime_api.h"

namespace cooper {

// Computes data[i] = data[i] * factor + term, for i < n.
void LaunchScale(int n, float factor, float term, float* data, cudaStream_t stream);

// Sums n floats to data[0], in blocks that need all the shared memory that a device allows.
cudaError_t LaunchSum(int n, float* data, cudaStream_t stream);

// Launches a kernel that adds n to a counter, a __device__ variable that starts as 40; or reads the
// counter.
void LaunchCount(int n);
cudaError_t ReadCounter(int* value);

// Calls the occupancy functions and cudaFuncGetAttributes for the kernel of LaunchScale().
cudaError_t DescribeScale(cudaFuncAttributes* attributes, int threads, int* blocks);

}  // namespace cooper

#endif  // COOPER_TESTS_CUDA_EMULATOR_TESTS_RUNTIME_KERNELS_H_
