#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_DEVICE_LIMITS_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_DEVICE_LIMITS_H_

// The limits of an emulated device: those of compute capability 9.0 and the 132 multiprocessors of
// an H100. Sizes are in bytes.

#include <cstdint>

namespace cooper::cuda_emulator {

inline constexpr int kComputeCapability = 90;  // 9.0
inline constexpr int kMultiprocessors = 132;
inline constexpr int kThreadsPerBlock = 1024;
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr int kMaxBlockZ = 64;
inline constexpr uint32_t kMaxGridX = 2147483647;
inline constexpr uint32_t kMaxGridYz = 65535;
inline constexpr uint64_t kSharedPerBlock = 48 << 10;        // without cudaFuncSetAttribute
inline constexpr uint64_t kSharedPerBlockOptin = 227 << 10;  // with it
inline constexpr uint64_t kSharedPerMultiprocessor = 228 << 10;
inline constexpr uint64_t kSharedReserved = 1 << 10;  // of each block, for the system
inline constexpr uint64_t kConstBytes = 64 << 10;
inline constexpr uint64_t kL2Bytes = 50 << 20;

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_DEVICE_LIMITS_H_
