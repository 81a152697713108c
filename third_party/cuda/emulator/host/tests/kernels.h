#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_TESTS_KERNELS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_TESTS_KERNELS_H_

// Kernels without mistakes, over device memory.

#include <cstdint>

#include "cuda_runtime_api.h"

namespace cooper {

// *sum += x[0] + ... + x[n - 1], by blocks of 128 threads that use shared memory; the `dynamic`
// kind or the static one.
cudaError_t AddSum(unsigned blocks, int n, bool dynamic, const int* x, int* sum);

// For each thread t of a block of `threads`, out[t] of t's lane: what shuffles and votes give.
struct WarpResults {
  int indexed;   // of lane 3 in each 8
  int up;        // of two lanes before, in each 16
  int down;      // of one lane behind
  int exchange;  // of the neighbour
  unsigned odd;  // lanes of the warp that have an odd number
  int any;       // is any lane's number 40
  int all;       // are all lanes' numbers below 64
};
cudaError_t CallWarp(unsigned threads, WarpResults* out);

// Threads are numbered over all blocks. out[0] += how many there are; out[1] and out[2] become the
// least and the largest of itself and all numbers. The exclusive or of out[3] and out[4] becomes
// that of themselves and all numbers.
cudaError_t CallAtomics(unsigned blocks, unsigned threads, unsigned* out);

// out[i] is the number of element i's thread, block and grid, in three dimensions.
struct Indices {
  unsigned thread[3];
  unsigned block[3];
  unsigned block_shape[3];
  unsigned grid_shape[3];
};
cudaError_t WriteIndices(dim3 grid, dim3 block, Indices* out);

}  // namespace cooper

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_TESTS_KERNELS_H_
