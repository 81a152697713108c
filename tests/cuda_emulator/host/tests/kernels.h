#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_KERNELS_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_KERNELS_H_

// Kernels without bugs, over device memory.

#include <cstdint>

#include "cuda_runtime_api.h"

namespace cooper {

// Adds x[0] + ... + x[n - 1] to *sum, in blocks of 128 threads that use shared memory, dynamic or
// static.
cudaError_t AddSum(unsigned blocks, int n, bool dynamic, const int* x, int* sum);

// Results of shuffles and votes. out[t] belongs to thread t of a block of `threads`.
struct WarpResults {
  int indexed;   // value of lane 3 in each 8
  int up;        // value of two lanes before, in each 16
  int down;      // value of the next lane
  int exchange;  // value of the neighbour
  unsigned odd;  // lanes of the warp with an odd number
  int any;       // whether any lane's number is 40
  int all;       // whether all lanes' numbers are below 64
};
cudaError_t CallWarp(unsigned threads, WarpResults* out);

// Threads are numbered over all blocks. Adds the number of threads to out[0]; updates out[1] and
// out[2] to the minimum and maximum of themselves and all numbers. Changes out[3] and out[4] such
// that their exclusive or becomes that of themselves and all numbers.
cudaError_t CallAtomics(unsigned blocks, unsigned threads, unsigned* out);

// out[i] holds the indices of element i's thread and block, and the shapes of block and grid, in
// three dimensions.
struct Indices {
  unsigned thread[3];
  unsigned block[3];
  unsigned block_shape[3];
  unsigned grid_shape[3];
};
cudaError_t WriteIndices(dim3 grid, dim3 block, Indices* out);

}  // namespace cooper

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_TESTS_KERNELS_H_
