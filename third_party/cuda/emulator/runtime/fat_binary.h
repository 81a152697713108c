#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_FAT_BINARY_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_FAT_BINARY_H_

// The container in which nvcc puts device code into a program.

#include <string>

#include "absl/status/statusor.h"

namespace cooper::cuda_emulator {

// Returns the PTX of the highest architecture up to `max_arch` (90) in the fat binary at `data`.
// PTX that was compressed with zstd needs libzstd.so.1, which is opened at run time.
//
// kInvalidArgument: this is no fat binary. kNotFound: it has no such PTX, or it cannot be unpacked.
absl::StatusOr<std::string> FindPtx(const void* data, int max_arch);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_FAT_BINARY_H_
