#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_FAULTS_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_FAULTS_H_

// Kernels with one bug each, over x and y of kFaultElements elements in device memory.

#include "cuda_runtime_api.h"

namespace cooper::host_shim {

inline constexpr int kFaultElements = 64;

cudaError_t MissingBarrier(const float* x, float* y);
cudaError_t MissingSyncWarp(const float* x, float* y);
cudaError_t RaceOfBlocks(float* y);
cudaError_t PastGlobal(const float* x, float* y);
cudaError_t PastShared(int index, float* y);
cudaError_t PastDynamicShared(float* y);
cudaError_t DividedBarrier(float* y);
cudaError_t BarrierAndShuffle(float* y);
cudaError_t MaskWithoutCaller(float* y);
cudaError_t ShuffleFromOutside(float* y);
cudaError_t Trap(float* y);
cudaError_t TooManyThreads(float* y);
cudaError_t NoBlocks(float* y);
cudaError_t TooMuchShared(float* y);

// Copies x to y, without a bug.
cudaError_t CopyElements(const float* x, float* y);

}  // namespace cooper::host_shim

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_FAULTS_H_
