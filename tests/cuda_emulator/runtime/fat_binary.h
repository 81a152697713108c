#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_FAT_BINARY_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_FAT_BINARY_H_

// Reads the container in which nvcc stores device code in a program.

#include <string>

#include "absl/status/statusor.h"

namespace cooper::cuda_emulator {

// Returns the PTX of the highest architecture up to `max_arch` (90) in the fat binary at `data`.
// PTX compressed with zstd needs libzstd.so.1, which is opened at run time.
//
// Errors: kInvalidArgument if it is not a fat binary; kNotFound if it has no such PTX, or the PTX
// cannot be decompressed.
absl::StatusOr<std::string> FindPtx(const void* data, int max_arch);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_FAT_BINARY_H_
