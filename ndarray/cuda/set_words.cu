#include "ndarray/cuda/set_words.h"

namespace cooper {
namespace {

__global__ void SetWordsKernel(uint64_t* words, uint64_t first, uint64_t second) {
  words[0] = first;
  words[1] = second;
}

}  // namespace

cudaError_t SetWords(cudaStream_t stream, uint64_t* words, uint64_t first, uint64_t second) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, SetWordsKernel, words, first, second);
}

}  // namespace cooper
