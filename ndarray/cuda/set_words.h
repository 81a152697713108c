#ifndef COOPER_NDARRAY_CUDA_SET_WORDS_H_
#define COOPER_NDARRAY_CUDA_SET_WORDS_H_

// Two words of a GPU's memory, written in a stream's order without memory of the host: their values
// go with the launch of a kernel.

#include <cstdint>

#include "cuda_runtime.h"

namespace cooper {

// words[0] = first, words[1] = second, on the current device. Queued on `stream`.
cudaError_t SetWords(cudaStream_t stream, uint64_t* words, uint64_t first, uint64_t second);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_SET_WORDS_H_
