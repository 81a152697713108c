#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_H_

// Generic addresses. Global and constant memory is host memory. Shared and local memory and the
// kernel's parameters are in windows: a window's start, where no host address can be, plus the
// offset in that memory. Functions have addresses that cannot be read.

#include <cstdint>

namespace cooper::ptx {

inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 60;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 60;
inline constexpr uint64_t kParamWindow = uint64_t{3} << 60;
inline constexpr uint64_t kFunctionWindow = uint64_t{4} << 60;

// Returns whether a generic address is in a window.
inline bool InWindow(uint64_t address, uint64_t window) { return address - window < kWindowBytes; }

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_H_
