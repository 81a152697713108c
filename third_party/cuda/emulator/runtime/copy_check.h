#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COPY_CHECK_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COPY_CHECK_H_

// Whether a range of memory is what a call needs it to be. Callers hold the ApiLock.

#include <cstdint>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

enum class Side { kHost, kDevice, kEither };

// Fails unless the `bytes` at `data` lie in one allocation that `side` may use: a device's, managed
// or pinned memory for the device; anything but a device's for the host.
cudaError_t CheckRange(const char* call, const void* data, uint64_t bytes, Side side);

// The sides that `kind` gives destination and source. Fails if there is no such kind.
cudaError_t SidesOf(const char* call, cudaMemcpyKind kind, Side& dst, Side& src);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COPY_CHECK_H_
