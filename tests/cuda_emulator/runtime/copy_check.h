#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COPY_CHECK_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COPY_CHECK_H_

// Checks that a memory range is valid for a call. Callers hold the ApiLock.

#include <cstdint>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

enum class Side { kHost, kDevice, kEither };

// Returns an error unless the `bytes` at `data` are in one allocation that `side` may use: device,
// managed or pinned memory for the device; any memory but a device's for the host.
cudaError_t CheckRange(const char* call, const void* data, uint64_t bytes, Side side);

// Sets the sides of destination and source for `kind`. Returns an error if there is no such kind.
cudaError_t SidesOf(const char* call, cudaMemcpyKind kind, Side& dst, Side& src);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COPY_CHECK_H_
