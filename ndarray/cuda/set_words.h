#ifndef COOPER_NDARRAY_CUDA_SET_WORDS_H_
#define COOPER_NDARRAY_CUDA_SET_WORDS_H_

// Writes two words of GPU memory in stream order without host memory: the values are arguments of a
// kernel launch.

#include <cstdint>

#include "cuda_runtime.h"

namespace cooper {

// Enqueues words[0] = first, words[1] = second on `stream`, a stream of the current device. Returns
// the error of the launch.
cudaError_t SetWords(cudaStream_t stream, uint64_t* words, uint64_t first, uint64_t second);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_SET_WORDS_H_
