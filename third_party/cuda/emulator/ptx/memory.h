#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MEMORY_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MEMORY_H_

// Generic addresses. Global and constant memory is host memory. Shared and local memory and the
// kernel's parameters lie in windows: a window's start plus the offset in that memory, where no
// address of the host can be. Functions have addresses that nothing can be read from.

#include <cstdint>

namespace cooper::ptx {

inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 60;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 60;
inline constexpr uint64_t kParamWindow = uint64_t{3} << 60;
inline constexpr uint64_t kFunctionWindow = uint64_t{4} << 60;

inline bool InWindow(uint64_t address, uint64_t window) { return address - window < kWindowBytes; }

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MEMORY_H_
