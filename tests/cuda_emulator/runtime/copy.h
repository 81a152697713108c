#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COPY_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COPY_H_

// The implementation that calls which copy share.

#include <cstddef>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// Checks and queues a copy of `bytes`; `call` names it in messages. With `wait`, returns when the
// copy is complete.
cudaError_t Copy(const char* call, void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COPY_H_
